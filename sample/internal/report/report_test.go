package report

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRowsAreAligned(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := New(&out, func(string) string { return "" })
	r.Section("Größe und mehr")
	for _, title := range []string{"short", "größer", strings.Repeat("very long ", 10)} {
		if err := r.Step(t.Context(), title, "Get", Point, func(context.Context) (string, error) { return "", nil }); err != nil {
			t.Fatal(err)
		}
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, row := range rows[1:] {
		if got, want := utf8.RuneCountInString(row), utf8.RuneCountInString(rows[0]); got != want {
			t.Errorf("%d characters under a head of %d:\n%s", got, want, &out)
		}
	}
}

func TestStepThatFails(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cause := errors.New("cause")
	err := New(&out, func(string) string { return "" }).Step(t.Context(), "title", "Get", Point, func(context.Context) (string, error) { return "", cause })
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "title") || out.Len() > 0 {
		t.Errorf("got %v and %q", err, &out)
	}
}

func TestBarIsForTerminals(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		r := &Report{out: &out, terminal: terminal}
		bar := r.Bar("products", 4)
		bar.Set(2)
		bar.Set(2)
		bar.Set(4)
		bar.Done()
		want := ""
		if terminal {
			line := func(filled int, count string) string {
				return "\r    products " + strings.Repeat("█", filled) + strings.Repeat("░", barWidth-filled) + " " + count
			}
			want = line(0, "0/4") + line(15, "2/4") + line(30, "4/4") + "\r\x1b[K"
		}
		if out.String() != want {
			t.Errorf("terminal %v: got %q, want %q", terminal, &out, want)
		}
	}
}

package report

import (
	"bytes"
	"context"
	"errors"
	"os"
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

func TestRefusalHasItsSign(t *testing.T) {
	t.Parallel()
	for _, color := range []bool{true, false} {
		var out bytes.Buffer
		r := &Report{out: &out, color: color}
		if err := r.Step(t.Context(), "title", "Get", Point, func(context.Context) (string, error) { return "", Refused("not found") }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "✗") || strings.Contains(out.String(), "→") || strings.Contains(out.String(), "\x1b") != color {
			t.Errorf("it prints %q", &out)
		}
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := New(&out, func(string) string { return "" })
	r.Patterns("Patterns", "this way", "that way")
	measure := func(ctx context.Context, way Way) (string, int64, float64, error) {
		result, err := way(ctx)
		return result, 2, 1.115, err
	}
	result := func(text string) Way { return func(context.Context) (string, error) { return text, nil } }
	if err := r.Compare(t.Context(), "a pattern", ", as declared", measure, result("five"), result("five")); err != nil {
		t.Fatal(err)
	}
	r.Rest("beyond", 10, 5)
	for row := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(row, "\n")); n > Width {
			t.Errorf("%d columns: %s", n, row)
		}
	}
	for _, want := range []string{"five, as declared", "       4     2.24", "       6     2.76", "      10     5.00"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not print %q:\n%s", want, &out)
		}
	}
	if err := r.Compare(t.Context(), "a pattern", "", measure, result("five"), result("four")); err == nil {
		t.Error("two ways to different ends are no comparison")
	}
	cause := errors.New("cause")
	fails := func(context.Context) (string, error) { return "", cause }
	if err := r.Compare(t.Context(), "a pattern", "", measure, fails, fails); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"", ""}, {"short", "short"}, {"exactly 10", "exactly 10"}, {"more than ten", "more than|ten"},
		{"größer als zehn", "größer als|zehn"}, {"averylongword", "averylongw|ord"}, {"  indented text", "  indented|text"}, {"   averylongword", "   averylo|ngword"},
	} {
		if got := strings.Join(wrap(tc.text, 10), "|"); got != tc.want {
			t.Errorf("%q becomes %q, want %q", tc.text, got, tc.want)
		}
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

// A pseudo-terminal is one; NO_COLOR and TERM=dumb are obeyed on it.
func TestTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/ptmx here:", err)
	}
	defer func() { _ = file.Close() }()
	for _, tc := range []struct {
		name, value     string
		terminal, color bool
	}{
		{"", "", true, true},
		{"NO_COLOR", "1", true, false},
		{"NO_COLOR", "", true, true},
		{"TERM", "dumb", false, false},
	} {
		r := New(file, func(name string) string {
			if name == tc.name {
				return tc.value
			}
			return ""
		})
		if r.terminal != tc.terminal || r.color != tc.color {
			t.Errorf("%s=%s: terminal %v, color %v", tc.name, tc.value, r.terminal, r.color)
		}
	}
}

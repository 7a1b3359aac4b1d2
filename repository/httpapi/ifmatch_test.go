package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

// store stands for a scope and counts what is read.
type store struct {
	etag  string // of the document that is there; empty is none
	reads int
}

func (s *store) Get(context.Context, string) (*Note, error) {
	s.reads++
	if s.etag == "" {
		return nil, repository.ErrNotFound
	}
	n := &Note{}
	n.ETag = s.etag
	return n, nil
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		header []string
		there  string
		want   string
		status int // 200 is no error
		reads  int
	}{
		{"no header", nil, `"1"`, ``, 200, 0},
		{"one tag is not looked at", []string{`"1"`}, `"2"`, `"1"`, 200, 0},
		{"one tag in spaces", []string{" \t\"1\" "}, `"2"`, `"1"`, 200, 0},
		{"a comma within a tag", []string{`"a,b"`}, ``, `"a,b"`, 200, 0},
		{"a tag beyond ASCII", []string{"\"\xe9\""}, ``, "\"\xe9\"", 200, 0},
		{"an empty tag", []string{`""`}, ``, `""`, 200, 0},
		{"empty members of a list", []string{`, "1",,`}, ``, `"1"`, 200, 0},
		{"a weak tag and a strong one", []string{`W/"1", "2"`}, ``, `"2"`, 200, 0},
		{"a list with what is there", []string{`"1", "2"`}, `"2"`, `"2"`, 200, 1},
		{"a list on two lines", []string{`"1"`, `"2"`}, `"1"`, `"1"`, 200, 1},
		{"a list without it", []string{`"1","2"`}, `"3"`, ``, 412, 1},
		{"a list and nothing there", []string{`"1","2"`}, ``, ``, 404, 1},
		{"anything", []string{`*`}, `"9"`, `"9"`, 200, 1},
		{"anything and nothing there", []string{` * `}, ``, ``, 404, 1},
		{"a weak tag", []string{`W/"1"`}, `"1"`, ``, 412, 0},
		{"weak tags", []string{`W/"1",W/"2"`}, `"1"`, ``, 412, 0},
		{"nothing", []string{``}, `"1"`, ``, 400, 0},
		{"commas", []string{`,,`}, `"1"`, ``, 400, 0},
		{"no quotes", []string{`1`}, `"1"`, ``, 400, 0},
		{"no end", []string{`"1`}, `"1"`, ``, 400, 0},
		{"no comma", []string{`"1" "2"`}, `"1"`, ``, 400, 0},
		{"nothing between", []string{`"1""2"`}, `"1"`, ``, 400, 0},
		{"a star in a list", []string{`*, "1"`}, `"1"`, ``, 400, 0},
		{"a star on another line", []string{`"1"`, `*`}, `"1"`, ``, 400, 0},
		{"a small w", []string{`w/"1"`}, `"1"`, ``, 400, 0},
		{"a W alone", []string{`W/`}, `"1"`, ``, 400, 0},
		{"a space in a tag", []string{`"1 2"`}, `"1"`, ``, 400, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPut, "/", nil)
			for _, line := range tc.header {
				r.Header.Add("If-Match", line)
			}
			s := &store{etag: tc.there}
			got, err := httpapi.IfMatch(r, s, "id")
			if got != tc.want || httpapi.Status(err) != tc.status || s.reads != tc.reads {
				t.Errorf("got %q, %d (%v) after %d reads", got, httpapi.Status(err), err, s.reads)
			}
		})
	}
}

// What the header says holds to the end: the write is bound to the tag.
func TestIfMatchOverTheWire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	acme := b.notes.In("acme")
	note := &Note{Title: "one"}
	check(t, acme.Create(t.Context(), note))
	put := func(header string) int {
		r := httptest.NewRequest(http.MethodPut, "/", nil)
		r.Header.Set("If-Match", header)
		etag, err := httpapi.IfMatch(r, acme, note.ID)
		if err == nil {
			n := &Note{Title: "two"}
			n.ID, n.ETag = note.ID, etag
			err = acme.Replace(t.Context(), n)
		}
		return httpapi.Status(err)
	}
	for _, tc := range []struct {
		header string
		want   int
	}{
		{note.ETag, 200}, {note.ETag, 412}, {note.ETag + `, "other"`, 412}, {"*", 200},
	} {
		if got := put(tc.header); got != tc.want {
			t.Errorf("If-Match %s: %d, want %d", tc.header, got, tc.want)
		}
	}
}

func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{``, `*`, `"1"`, `W/"1"`, `"a,b", W/"c"`, `,"1",`, `"1" "2"`, `"`, "\"\x00\"", `W/`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		s := &store{etag: `"there"`}
		r := httptest.NewRequest(http.MethodPut, "/", nil)
		r.Header["If-Match"] = []string{header}
		etag, err := httpapi.IfMatch(r, s, "id")
		if err != nil {
			var problem *httpapi.Problem
			if !errors.As(err, &problem) && !errors.Is(err, repository.ErrPreconditionFailed) {
				t.Fatalf("%q: %v", header, err)
			}
			return
		}
		if len(etag) < 2 || etag[0] != '"' || etag[len(etag)-1] != '"' || strings.ContainsAny(etag[1:len(etag)-1], "\" \r\n\x00") {
			t.Fatalf("%q gives the tag %q", header, etag)
		}
		if s.reads == 0 && !strings.Contains(header, etag) {
			t.Fatalf("%q gives the tag %q, which it does not hold", header, etag)
		}
		// A tag that was read is read again as itself.
		r.Header["If-Match"] = []string{etag}
		if again, err := httpapi.IfMatch(r, s, "id"); err != nil || again != etag {
			t.Fatalf("%q becomes %q: %v", etag, again, err)
		}
	})
}

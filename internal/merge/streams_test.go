package merge_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/internal/merge"
)

// script is a stream with its pages written out. When they are used up it ends,
// or fails, or hands over to others.
type script struct {
	pages [][]int
	parts []merge.Stream[int]
	err   error
	asked int
}

func (s *script) Next(context.Context) ([]int, []merge.Stream[int], error) {
	s.asked++
	if len(s.pages) > 0 {
		page := s.pages[0]
		s.pages = s.pages[1:]
		return page, nil, nil
	}
	return nil, s.parts, s.err
}

func byValue(a, b *int) int { return cmp.Compare(*a, *b) }

func all(t *testing.T, streams []merge.Stream[int]) []int {
	t.Helper()
	var out []int
	if err := merge.Streams(t.Context(), streams, byValue, func(n *int) bool { out = append(out, *n); return true }); err != nil {
		t.Fatal(err)
	}
	return out
}

// drawScript cuts sorted numbers into pages, and hands the last of them over
// to parts.
func drawScript(t *rapid.T, sorted []int, depth int) *script {
	s := &script{}
	for len(sorted) > 0 {
		if depth > 0 && rapid.IntRange(0, 3).Draw(t, "divide") == 0 {
			halves := make([][]int, rapid.IntRange(1, 3).Draw(t, "parts"))
			for _, n := range sorted {
				to := rapid.IntRange(0, len(halves)-1).Draw(t, "part")
				halves[to] = append(halves[to], n)
			}
			for _, half := range halves {
				s.parts = append(s.parts, drawScript(t, half, depth-1))
			}
			return s
		}
		n := rapid.IntRange(1, len(sorted)).Draw(t, "page")
		s.pages = append(s.pages, sorted[:n])
		sorted = sorted[n:]
	}
	return s
}

func TestStreams_equalSorting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var want []int
		streams := make([]merge.Stream[int], rapid.IntRange(0, 12).Draw(r, "streams"))
		for i := range streams {
			rows := rapid.SliceOfN(rapid.IntRange(0, 30), 0, 20).Draw(r, "rows")
			slices.Sort(rows)
			want = append(want, rows...)
			streams[i] = drawScript(r, rows, 2)
		}
		slices.Sort(want)
		if got := all(t, streams); !slices.Equal(got, want) {
			r.Fatalf("want %v\ngot  %v", want, got)
		}
	})
}

// TestStreams_holdsOnePage makes sure that no stream is asked before its page
// is used up.
func TestStreams_holdsOnePage(t *testing.T) {
	t.Parallel()
	low := &script{pages: [][]int{{1, 2}, {3, 4}}}
	high := &script{pages: [][]int{{10}, {11}}}
	given := 0
	err := merge.Streams(t.Context(), []merge.Stream[int]{low, high}, byValue, func(*int) bool {
		given++
		return given < 3
	})
	if err != nil {
		t.Fatal(err)
	}
	if low.asked != 2 || high.asked != 1 {
		t.Errorf("after 3 rows the streams were asked %d and %d times, want 2 and 1", low.asked, high.asked)
	}
}

func TestStreams_failure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, streams := range map[string][]merge.Stream[int]{
		"at once":    {&script{pages: [][]int{{1}}}, &script{err: broken}},
		"later":      {&script{pages: [][]int{{1}}, err: broken}, &script{pages: [][]int{{2}}}},
		"in a part":  {&script{parts: []merge.Stream[int]{&script{err: broken}}}},
		"everywhere": {&script{err: broken}, &script{err: broken}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := merge.Streams(t.Context(), streams, byValue, func(*int) bool { return true })
			if !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStreams_tiesInOrderOfStreams(t *testing.T) {
	t.Parallel()
	type row struct{ n, from int }
	var streams []merge.Stream[row]
	for i := range 9 {
		streams = append(streams, &one[row]{page: []row{{1, i}, {2, i}}})
	}
	var got []row
	byN := func(a, b *row) int { return cmp.Compare(a.n, b.n) }
	if err := merge.Streams(t.Context(), streams, byN, func(r *row) bool { got = append(got, *r); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(got, func(a, b row) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.from, b.from)) }) {
		t.Errorf("got %v", got)
	}
}

// one is a stream of one page.
type one[R any] struct{ page []R }

func (s *one[R]) Next(context.Context) ([]R, []merge.Stream[R], error) {
	page := s.page
	s.page = nil
	return page, nil, nil
}

package parented_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

type Line struct {
	Writer int    `json:"writer"`
	Number int    `json:"number"`
	Text   string `json:"text,omitempty"`
}

func (g grove) lines(t testing.TB, capacity int) *parented.Buckets[Line, Note] {
	t.Helper()
	container, err := g.database.NewContainer("items")
	must(t, err)
	cfg := parented.BucketConfig{Capacity: capacity}
	cfg.EntityType, cfg.Rule = "LineBucket", parented.Cascade
	buckets, err := parented.NewBuckets[Line](g.forest, g.notes, container, cfg)
	must(t, err)
	return buckets
}

func TestConcurrentAppendsLoseNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	lines := g.lines(t, 100)
	// As from another process: nothing is shared but the database.
	elsewhere := open(t, g.database, planting{}).lines(t, 100)
	note := g.tree(t, "acme", 0, 0)
	const writers, each = 64, 100
	var all sync.WaitGroup
	for w := range writers {
		lines := []*parented.Buckets[Line, Note]{lines, elsewhere}[w%2]
		all.Go(func() {
			for n := range each {
				if _, err := lines.Under(note).Append(ctx, Line{Writer: w, Number: n}); err != nil {
					t.Errorf("writer %d, line %d: %v", w, n, err)
					return
				}
			}
		})
	}
	all.Wait()
	next := make([]int, writers)
	total := 0
	for entry, err := range lines.Under(note).OldestFirst(ctx) {
		must(t, err)
		if entry.Value.Number != next[entry.Value.Writer] {
			t.Fatalf("writer %d: line %d where %d belongs", entry.Value.Writer, entry.Value.Number, next[entry.Value.Writer])
		}
		next[entry.Value.Writer]++
		total++
	}
	if n, err := lines.Under(note).Count(ctx); err != nil || n != writers*each || total != writers*each {
		t.Fatalf("%d lines read, %d counted, %v", total, n, err)
	}
	for b, err := range lines.Documents().Under(note).Query(ctx, repository.All()) {
		must(t, err)
		if len(b.Entries) > 100 || len(b.Entries) != b.Live || b.Taken != b.Live {
			t.Errorf("bucket %d holds %d lines and says %d of %d", b.Seq, len(b.Entries), b.Live, b.Taken)
		}
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	lines := g.lines(t, 4)
	note, other := g.tree(t, "acme", 0, 0), g.tree(t, "acme", 0, 0)
	under := lines.Under(note)
	var ids []string
	for n := range 10 {
		entry, err := under.Append(ctx, Line{Number: n})
		must(t, err)
		ids = append(ids, entry.ID)
	}
	if got, err := under.Get(ctx, ids[5]); err != nil || got.Value.Number != 5 {
		t.Fatalf("Get: %+v, %v", got, err)
	}
	edited, err := under.Edit(ctx, ids[5], func(l *Line) error { l.Text = "edited"; return nil })
	must(t, err)
	must(t, under.Delete(ctx, ids[2]))
	mustBe(t, under.Delete(ctx, ids[2]), repository.ErrNotFound)
	_, err = under.Get(ctx, ids[2])
	mustBe(t, err, repository.ErrNotFound)
	_, err = lines.Under(other).Get(ctx, ids[5])
	mustBe(t, err, repository.ErrNotFound)
	for _, bad := range []string{"", "x", "-1.x", "01.x", "99999999999999999999.x", "/"} {
		_, err = under.Get(ctx, bad)
		mustBe(t, err, repository.ErrInvalid)
	}
	if got, err := under.Get(ctx, ids[5]); err != nil || got.Value.Text != "edited" || edited.Value.Text != "edited" {
		t.Fatalf("after Edit: %+v, %v", got, err)
	}

	read := func(seq func(func(*parented.Entry[Line], error) bool)) (numbers []int) {
		for entry, err := range seq {
			must(t, err)
			numbers = append(numbers, entry.Value.Number)
		}
		return numbers
	}
	want := []int{0, 1, 3, 4, 5, 6, 7, 8, 9}
	if got := read(under.OldestFirst(ctx)); !slices.Equal(got, want) {
		t.Fatalf("oldest first: %v", got)
	}
	slices.Reverse(want)
	if got := read(under.NewestFirst(ctx)); !slices.Equal(got, want) {
		t.Fatalf("newest first: %v", got)
	}
	if n, err := under.Count(ctx); err != nil || n != 9 {
		t.Fatalf("count: %d, %v", n, err)
	}

	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	if n, err := lines.Documents().In("acme").Count(ctx, repository.All()); err != nil || n != 0 {
		t.Fatalf("buckets left: %d, %v", n, err)
	}
	_, err = under.Append(ctx, Line{})
	mustBe(t, err, repository.ErrDanglingRef)
}

func TestABucketEndsBeforeTheServicesLimit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t)
	lines := g.lines(t, 100)
	note := g.tree(t, "acme", 0, 0)
	text := strings.Repeat("x", 600<<10)
	for n := range 7 {
		_, err := lines.Under(note).Append(ctx, Line{Number: n, Text: text})
		must(t, err)
	}
	if n, err := lines.Documents().Under(note).Count(ctx, repository.All()); err != nil || n != 3 {
		t.Fatalf("%d buckets for 7 lines of 600 KB, %v", n, err)
	}
	_, err := lines.Under(note).Append(ctx, Line{Text: strings.Repeat(text, 4)})
	mustBe(t, err, repository.ErrTooLarge)
}

func TestBucketsAreNamedAndBounded(t *testing.T) {
	t.Parallel()
	g := setup(t)
	container, err := g.database.NewContainer("items")
	must(t, err)
	for name, cfg := range map[string]parented.BucketConfig{
		"no name":  {Config: parented.Config{Rule: parented.Cascade}},
		"no rule":  {Config: parented.Config{Config: repository.Config{EntityType: "L"}}},
		"too many": {Config: parented.Config{Config: repository.Config{EntityType: "L"}, Rule: parented.Cascade}, Capacity: 10_001},
		"negative": {Config: parented.Config{Config: repository.Config{EntityType: "L"}, Rule: parented.Cascade}, Capacity: -1},
	} {
		if _, err := parented.NewBuckets[Line](parented.NewForest(parented.ForestConfig{}), g.notes, container, cfg); err == nil {
			t.Error(fmt.Sprint("accepted: ", name))
		}
	}
}

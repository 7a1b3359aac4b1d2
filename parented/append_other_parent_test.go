package parented_test

import (
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A bucket that has the id of a parent's, and belongs to nobody or to another parent, takes none of its entries.
func TestAnAppendStaysWithItsParent(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, g grove, buckets *parented.Buckets[string, Note], note *Note){
		"the parent was deleted and created anew": func(t *testing.T, g grove, _ *parented.Buckets[string, Note], note *Note) {
			must(t, g.notes.In("acme").Delete(t.Context(), note.ID, nil))
			again := &Note{Title: "again"}
			again.ID = note.ID
			must(t, g.notes.In("acme").Upsert(t.Context(), again))
		},
		"a replace gave the bucket to another": func(t *testing.T, g grove, buckets *parented.Buckets[string, Note], note *Note) {
			bucket, err := buckets.Documents().Under(note).First(t.Context(), repository.All())
			must(t, err)
			bucket.ParentID = tenantitem.RefTo[*Note](g.tree(t, "acme", 0, 0).ID)
			must(t, buckets.Documents().In("acme").Save(t.Context(), bucket))
		},
	} {
		for _, known := range []string{"to the process", "to nobody"} {
			t.Run(name+", known "+known, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t)
				g := plant(t, planting{client: e.Client(nil)})
				wire := func(g grove) *parented.Buckets[string, Note] {
					container, err := g.database.NewContainer("items")
					must(t, err)
					b, err := parented.NewBuckets[string](g.forest, g.notes, container, parented.BucketConfig{Config: parented.Config{Config: repository.Config{EntityType: "Entry"}, Rule: parented.Orphan}})
					must(t, err)
					return b
				}
				buckets := wire(g)
				note := g.tree(t, "acme", 0, 0)
				_, err := buckets.Under(note).Append(ctx, "first")
				must(t, err)
				lose(t, g, buckets, note)
				if known == "to nobody" {
					buckets = wire(g.of(t, e, planting{}))
				}
				entry, err := buckets.Under(note).Append(ctx, "second")
				must(t, err)
				var seen []string
				for e, err := range buckets.Under(note).OldestFirst(ctx) {
					must(t, err)
					seen = append(seen, e.Value)
				}
				if len(seen) != 1 || seen[0] != "second" {
					t.Errorf("the entries are %q", seen)
				}
				if got, err := buckets.Under(note).Get(ctx, entry.ID); err != nil || got.Value != "second" {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
	}
}

func TestABucketIsNotMoved(t *testing.T) {
	t.Parallel()
	g, ctx := setup(t), t.Context()
	lines := g.lines(t, 10)
	note, other := g.tree(t, "acme", 0, 0), g.tree(t, "acme", 0, 0)
	_, err := lines.Under(note).Append(ctx, Line{Number: 1})
	must(t, err)
	bucket, err := lines.Documents().Under(note).First(ctx, repository.All())
	must(t, err)
	if err := lines.Documents().Move(ctx, "acme", bucket.ID, tenantitem.RefTo[*Note](other.ID)); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a move of a bucket: %v", err)
	}
}

package parented_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A delete with a plan dies after it hid a bucket, and an Upsert writes over the note. An append brings the bucket back.
func TestAnAppendToAHiddenBucketEnds(t *testing.T) {
	t.Parallel()
	for n := int32(8); n < 22; n++ {
		ctx := t.Context()
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		g := plant(t, planting{client: e.Client(nil)})
		wire := func(g grove) *parented.Buckets[string, Note] {
			container, err := g.database.NewContainer("items")
			must(t, err)
			b, err := parented.NewBuckets[string](g.forest, g.notes, container, parented.BucketConfig{Config: parented.Config{Config: repository.Config{EntityType: "Entry"}, Rule: parented.Cascade}})
			must(t, err)
			return b
		}
		buckets := wire(g)
		note := g.tree(t, "acme", 0, 0)
		_, err := buckets.Under(note).Append(ctx, "first")
		must(t, err)
		plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
		must(t, err)
		mortal, die := context.WithCancel(ctx)
		d := g.of(t, e, planting{}, &diesAfter{n: n, die: die})
		wire(d)
		_ = d.notes.In("acme").Delete(mortal, note.ID, &repository.DeleteOptions{Plan: plan.Token})
		die()
		again := &Note{Title: "again"}
		again.ID = note.ID
		must(t, g.notes.In("acme").Upsert(ctx, again))
		_, err = g.forest.Resume(ctx, "acme")
		must(t, err)
		fresh := g.of(t, e, planting{})
		short, cancel := context.WithTimeout(ctx, 3*time.Second)
		_, err = wire(fresh).Under(note).Append(short, "second")
		cancel()
		if err != nil && !errors.Is(err, repository.ErrDanglingRef) {
			t.Errorf("after %d requests of the delete: %v", n, err)
		}
	}
}

package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// TestABatchKeepsItsCopies: whatever becomes of the requests of a batch with counted, listed and linked documents, beside a writer of their parent and with
// a keeper behind it, all of the batch is there or nothing of it, the caller was told which, and every copy is right, before the feed is followed too.
func TestABatchKeepsItsCopies(t *testing.T) {
	t.Parallel()
	key := layouts()["in one transaction"]
	for name, do := range map[string]func(ctx context.Context, a work) error{
		"partition.Commit": func(ctx context.Context, a work) error {
			third := task("t3")
			third.Labels = []tenantitem.Ref[Label]{"l"}
			return partition.Commit(ctx, a.tasks.Batch().Create(third).Delete("t2", ""), a.persons.Batch().Patch("q", repository.Set("/age", 31)))
		},
		"Batch": func(ctx context.Context, a work) error {
			third := task("t3")
			third.Labels = []tenantitem.Ref[Label]{"l"}
			return a.tasks.Batch().Create(third).Delete("t2", "").Commit(ctx)
		},
		"SaveAll": func(ctx context.Context, a work) error {
			first, err := a.tasks.Get(ctx, "t1")
			if err != nil {
				return err
			}
			first.PersonID, first.Labels = "q", []tenantitem.Ref[Label]{"l"}
			_, err = a.tasks.SaveAll(ctx, slices.Values([]*Task{task("t3"), first}), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kinds []emulatortest.FaultKind
			if !inFull() {
				kinds = kindsOf("killed-after", "cut-after", "late-2", "behind-2", "refused-after", "split")
			}
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) { setupWork(w, key) },
				Actors: []emulatortest.Actor{
					{Name: "writer", Do: func(w *emulatortest.World) error { return do(w.Context(), workOf(w, key)) }},
					{Name: "other", Do: func(w *emulatortest.World) error {
						_, err := workOf(w, key).persons.Mutate(w.Context(), "p", func(p *Person) error { p.Name = "new p"; return nil })
						return err
					}},
				},
				Then:  follow(key),
				Check: func(w *emulatortest.World) error { return checkBatch(w, key, name) },
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: forgery(key)})
		})
	}
}

// checkBatch compares what the writer of a batch was told with what is there.
func checkBatch(w *emulatortest.World, key []string, name string) error {
	a := workOf(w, key)
	is := func(id string) (bool, error) {
		_, err := a.tasks.Get(w.Context(), id)
		if errors.Is(err, repository.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	created, err := is("t3")
	if err != nil {
		return err
	}
	left, err := is("t2")
	if err != nil {
		return err
	}
	told := w.Outcome("writer")
	if name != "SaveAll" && created == left {
		return fmt.Errorf("half of the batch is there: t3 %v, t2 %v (%w)", created, left, told)
	}
	if told == nil && !created || name != "SaveAll" && isDefinite(told) && created {
		return fmt.Errorf("the batch returned %w, and is there: %v", told, created)
	}
	if err := driftOf(w, a); err != nil {
		return err
	}
	return checkSnapshots(w, a)
}

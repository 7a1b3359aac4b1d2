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

// Whatever dies, and however late it is taken up: a tree is restored whole or
// not at all.
func TestATreeIsKeptAsAWhole(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		restores           bool          // it is the restore that dies
		before, late, then time.Duration // the death, the resumption, the look
		kept               bool
	}{
		"a delete that is taken up within its time":  {late: 20 * time.Hour, then: 4*time.Hour - time.Minute, kept: true},
		"a delete that is taken up and expires":      {late: 20 * time.Hour, then: 4*time.Hour + time.Minute},
		"a delete that is taken up too late":         {late: 2 * day, then: time.Minute},
		"a restore that is taken up after that time": {restores: true, before: day - 10*time.Minute, late: 30 * time.Minute, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			emulator := processes(t)
			clock := emulator.Clock()
			p := planting{client: emulator.Client(nil), note: parented.Policy{Retain: day}, config: parented.ForestConfig{PageSize: 2, Now: clock.Now}}
			g := plant(t, p)
			restore := func(ctx context.Context, g grove, id string) error { return g.notes.In("acme").Restore(ctx, id) }
			for n := firstOwnRequest; ; n++ {
				note := g.tree(t, "acme", 3, 1)
				verb := func(ctx context.Context, g grove) error { return g.notes.In("acme").Delete(ctx, note.ID, nil) }
				if test.restores {
					must(t, verb(ctx, g))
					verb = func(ctx context.Context, g grove) error { return restore(ctx, g, note.ID) }
				}
				clock.Advance(test.before)
				ended := dyingAt(t, emulator, p, n, true, verb)
				clock.Advance(test.late)
				_, err := g.forest.Resume(ctx, "acme")
				must(t, err)
				clock.Advance(test.then)

				err = restore(ctx, g, note.ID)
				switch got := g.visible(t, "acme"); {
				case err == nil && test.kept, errors.Is(err, repository.ErrConflict):
					if got != 7 { // restored now, or it died before it began
						t.Fatalf("dead at request %d: %d documents are visible of 7", n, got)
					}
				case errors.Is(err, repository.ErrNotFound) && (!test.kept || test.restores && n < firstWrite):
					if got != 0 {
						t.Fatalf("dead at request %d: %d documents are visible of a tree that is gone", n, got)
					}
				default:
					t.Fatalf("dead at request %d: restore: %v; %d visible", n, err, got)
				}
				if err := g.notes.In("acme").Delete(ctx, note.ID, nil); err != nil {
					mustBe(t, err, repository.ErrNotFound)
				}
				clock.Advance(3 * day)
				if got := g.stored(t, "acme"); len(got) != 0 {
					t.Fatalf("dead at request %d: three days later there is %v", n, got)
				}
				if ended {
					break
				}
			}
		})
	}
}

// firstWrite is the first request of a restore of a root that changes something.
const firstWrite = firstOwnRequest + 1

// While a label is being restored, its note is deleted. Where the delete came
// first the restore is refused, and the label stays deleted. Otherwise it is
// back, as Orphan says. It never names a note that is gone.
func TestARestoredOrphanNamesNoDeletedParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const batches = 3 // of a restore: begun, decided, unhidden
	refused := 0
	for before := range int64(batches) {
		var restored error
		emulator := emulatortest.New(t)
		p := planting{client: emulator.Client(nil), label: parented.Policy{Retain: time.Hour}}
		g := plant(t, p)
		note, label := g.tree(t, "acme", 0, 0), &Label{}
		must(t, g.labels.Under(note).Create(ctx, label))
		must(t, g.labels.Under(note).Delete(ctx, label.ID, nil))
		late := &beforeBatch{after: before, do: func() { must(t, g.notes.In("acme").Delete(ctx, note.ID, nil)) }}
		dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
			restored = g.labels.In("acme").Restore(context.WithValue(ctx, lateKey{}, late), label.ID)
			return restored
		})
		back, err := g.labels.In("acme").Get(ctx, label.ID)
		if restored != nil {
			mustBe(t, restored, repository.ErrDanglingRef)
			mustBe(t, err, repository.ErrNotFound)
			refused++
			continue
		}
		must(t, err)
		if back.ParentID != "" {
			t.Errorf("deleted before batch %d: the label names %s", before, back.ParentID)
		}
	}
	if refused == 0 || refused == batches {
		t.Errorf("%d of %d restores were refused", refused, batches)
	}
}

package parented_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A create over a tombstone, or over what was deleted softly, beside a delete of the note for good, under each rule. Over what could be
// restored it may stay under Restrict, and says so.
func TestACreateOverATombstone(t *testing.T) {
	t.Parallel()
	for what, policy := range map[string]parented.Policy{"tombstone": {Tombstone: time.Hour}, "soft": {Retain: time.Hour}, "none": {}} {
		for _, rule := range []parented.Rule{parented.Restrict, parented.Cascade, parented.Orphan} {
			for w := 1; w < 6; w++ {
				t.Run(fmt.Sprintf("%s %v %d", what, rule, w), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					db := plant(t, planting{client: e.Client(nil)}).database
					wireIn := func(s *stepper) twoLevels {
						client := e.Client(nil)
						if s != nil {
							client = clientOf(e, s)
						}
						db, err := client.NewDatabase(db.ID())
						must(t, err)
						container, err := db.NewContainer("items")
						must(t, err)
						g := twoLevels{forest: parented.NewForest(parented.ForestConfig{})}
						g.notes, err = repository.New[Note](container, repository.Config{})
						must(t, err)
						g.comments, err = parented.New[Comment](g.forest, g.notes, container, parented.Config{Rule: rule, Policy: policy})
						must(t, err)
						return g
					}
					g := wireIn(nil)
					n := &Note{Title: "n"}
					n.ID = "n"
					must(t, g.notes.In("acme").Create(ctx, n))
					must(t, g.comments.In("acme").Create(ctx, commentOf("n", "c")))
					must(t, g.comments.In("acme").Delete(ctx, "c", nil))
					ws := newStepper()
					wg := wireIn(ws)
					var wrote error
					go func() { defer close(ws.ended); wrote = wg.comments.In("acme").Create(ctx, commentOf("n", "c")) }()
					ws.step(w)
					deleted := g.notes.In("acme").Delete(ctx, "n", nil)
					ws.finish()
					note, err := g.notes.In("acme").Exists(ctx, "n")
					must(t, err)
					child, err := g.comments.In("acme").Get(ctx, "c")
					told := what == "soft" && rule == parented.Restrict && errors.Is(wrote, repository.ErrAmbiguous) && errors.Is(wrote, repository.ErrDanglingRef)
					if err == nil && !note && child.ParentID != "" && !told {
						t.Errorf("the create said %v, the delete %v: the comment is there without its note", wrote, deleted)
					}
				})
			}
		}
	}
}

// A refused create is taken back. What another process has created and deleted under its id since can be restored.
func TestARefusedCreateLeavesAnothersDocument(t *testing.T) {
	t.Parallel()
	for w := 2; w < 30; w++ {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			soft := parented.Policy{Retain: 24 * time.Hour}
			p := planting{client: e.Client(nil), note: soft, child: soft}
			g := plant(t, p)
			note := g.tree(t, "acme", 0, 0)
			ws := newStepper()
			wg := g.of(t, e, p, ws)
			var told error
			ws.start(func() {
				c := &Comment{Body: "refused"}
				c.ID = "c"
				told = wg.comments.Under(note).Create(ctx, c)
			})
			ws.step(1)
			must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
			ws.step(w)
			must(t, g.notes.In("acme").Restore(ctx, note.ID))
			c := &Comment{Body: "mine"}
			c.ID = "c"
			made := g.comments.Under(note).Create(ctx, c)
			var deleted error
			if made == nil {
				deleted = g.comments.In("acme").Delete(ctx, "c", nil)
			}
			ws.finish()
			restored := g.comments.In("acme").Restore(ctx, "c")
			if made == nil && deleted == nil && restored != nil {
				t.Errorf("created, deleted softly, and the restore says %v; the refused create said %v", restored, told)
			}
		})
	}
}

// A create that never took effect is checked later, when its id is another type's.
func TestAPendingCheckOfAnotherType(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := openOneTree(t, e.Client(nil), parented.Cascade)
	p.note(t, "n")
	e.Fault(emulator.Cut().On(emulator.TransactionalBatch).Times(1000))
	e.Fault(emulator.Cut().On(emulator.CreateItem).Times(1000))
	err := p.comments.In("acme").Create(ctx, commentOf("n", "x"))
	e.Faults().Clear()
	mustBe(t, err, repository.ErrAmbiguous)
	p.note(t, "x")
	for range 3 {
		r, err := p.forest.Resume(ctx, "acme")
		if err != nil {
			t.Errorf("Resume: %+v, %v", r, err)
		}
	}
}

// The soft delete of a note dies, and its id is used again: the create ends that delete first, and writes over what it keeps.
func TestACreateOverASoftDeleteThatDied(t *testing.T) {
	t.Parallel()
	for n := int32(2); n < 12; n++ {
		ctx := t.Context()
		e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
		p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}}
		g := plant(t, p)
		note := g.tree(t, "acme", 2, 1)
		mortal, die := context.WithCancel(ctx)
		_ = g.of(t, e, p, &diesAfter{n: n, die: die}).notes.In("acme").Delete(mortal, note.ID, nil)
		die()
		if there, err := g.notes.In("acme").Exists(ctx, note.ID); err != nil || there {
			continue
		}
		again := &Note{Title: "again"}
		again.ID = note.ID
		if err := g.notes.In("acme").Create(ctx, again); err != nil {
			t.Errorf("after %d requests: %v", n, err)
		}
		if count, err := g.comments.Under(again).Count(ctx, repository.All()); err != nil || count != 0 {
			t.Errorf("after %d requests: %d comments, %v", n, count, err)
		}
	}
}

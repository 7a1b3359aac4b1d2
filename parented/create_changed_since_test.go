package parented_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Another process replaces a child between its create and the creator's second look, and the parent is deleted softly. What was
// replaced stays under Orphan, and comes back with the parent under Cascade: the create can't take it back any more.
func TestARefusedCreateLeavesWhatOthersChanged(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"orphan", "cascade"} {
		for n := 1; n < 12; n++ {
			t.Run(fmt.Sprint(rule, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}}
				g := plant(t, p)
				note := g.tree(t, "acme", 0, 0)
				create := newStepper()
				creator := g.of(t, e, p, create)
				create.start(func() {
					if rule == "orphan" {
						l := &Label{}
						l.ID = "x"
						_ = creator.labels.Under(note).Create(ctx, l)
						return
					}
					c := &Comment{}
					c.ID = "x"
					_ = creator.comments.Under(note).Create(ctx, c)
				})
				for stored := int64(0); stored == 0; {
					create.step(1)
					now := g.stored(t, "acme")
					stored = now["Label"] + now["Comment"]
				}
				var err error
				if rule == "orphan" {
					_, err = g.labels.In("acme").Mutate(ctx, "x", func(l *Label) error { l.Text = "replaced"; return nil })
				} else {
					_, err = g.comments.In("acme").Mutate(ctx, "x", func(c *Comment) error { c.Body = "replaced"; return nil })
				}
				must(t, err)
				remove := newStepper()
				deleter := g.of(t, e, p, remove)
				var deleted error
				remove.start(func() {
					deleted = deleter.notes.In("acme").Delete(ctx, note.ID, nil)
				})
				remove.step(n)
				create.finish()
				remove.finish()
				must(t, deleted)
				must(t, g.notes.In("acme").Restore(ctx, note.ID))
				if rule == "orphan" {
					_, err = g.labels.In("acme").Get(ctx, "x")
				} else {
					_, err = g.comments.In("acme").Get(ctx, "x")
				}
				must(t, err)
			})
		}
	}
}

// A create whose second look failed is looked at again later, when others have changed the child, with success, and while the note is being
// deleted that it is under by then. It stays without its note.
func TestAPendingCheckLeavesWhatOthersChanged(t *testing.T) {
	t.Parallel()
	for how, change := range map[string]func(t *testing.T, g, creator grove, to *Note) bool{
		"replaced": func(t *testing.T, g, _ grove, _ *Note) bool {
			_, err := g.labels.In("acme").Mutate(t.Context(), "l", func(l *Label) error { l.Text = "replaced"; return nil })
			must(t, err)
			return false
		},
		"moved": func(t *testing.T, g, _ grove, to *Note) bool {
			must(t, g.labels.Move(t.Context(), "acme", "l", to.Ref()))
			return true
		},
		"moved by the creator": func(t *testing.T, _, creator grove, to *Note) bool {
			must(t, creator.labels.Move(t.Context(), "acme", "l", to.Ref()))
			return true
		},
		"created anew": func(t *testing.T, g, _ grove, to *Note) bool {
			must(t, g.labels.In("acme").Delete(t.Context(), "l", nil))
			again := &Label{}
			again.ID = "l"
			must(t, g.labels.Under(to).Create(t.Context(), again))
			return true
		},
	} {
		for n := 3; n < 9; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}}
				g := plant(t, p)
				note, other := g.tree(t, "acme", 0, 0), g.tree(t, "acme", 0, 0)
				var armed *emulator.ArmedFault
				creator := g.of(t, e, p, &aroundWrite{before: func() {
					armed = e.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadItem).Keep())
				}, after: func() {}})
				l := &Label{}
				l.ID = "l"
				mustBe(t, creator.labels.Under(note).Create(ctx, l), repository.ErrAmbiguous)
				armed.Disarm()
				if change(t, g, creator, other) {
					note = other
				}
				remove := newStepper()
				deleter := g.of(t, e, p, remove)
				var deleted error
				remove.start(func() {
					deleted = deleter.notes.In("acme").Delete(ctx, note.ID, nil)
				})
				remove.step(n)
				_, err := creator.forest.Resume(ctx, "acme")
				remove.finish()
				must(t, err)
				must(t, deleted)
				left, err := g.labels.In("acme").Get(ctx, "l")
				must(t, err)
				if left.ParentID != "" {
					t.Errorf("it is under %s", left.ParentID)
				}
			})
		}
	}
}

// The same under Restrict: what another has saved forbids the delete of its comment, which had not hidden it yet.
func TestAPendingCheckLeavesWhatRestrictKeeps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{client: e.Client(nil)}
	g := plant(t, p)
	comment, err := g.comments.Under(g.tree(t, "acme", 1, 0)).First(ctx, repository.All())
	must(t, err)
	remove := newStepper()
	deleter := g.of(t, e, p, remove)
	var deleted error
	remove.start(func() {
		deleted = deleter.comments.In("acme").Delete(ctx, comment.ID, nil)
	})
	remove.step(2) // it has counted, and hidden nothing
	var armed *emulator.ArmedFault
	creator := g.of(t, e, p, &aroundWrite{before: func() {
		armed = e.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.ReadItem).Keep())
	}, after: func() {}})
	v := &Vote{}
	mustBe(t, creator.votes.Under(comment).Create(ctx, v), repository.ErrAmbiguous)
	armed.Disarm()
	must(t, g.votes.In("acme").Save(ctx, v))
	for range 2 {
		remove.step(1)
		_, err := creator.forest.Resume(ctx, "acme")
		must(t, err)
	}
	remove.finish()
	mustBe(t, deleted, repository.ErrHasChildren)
	_, err = g.votes.In("acme").Get(ctx, v.ID)
	must(t, err)
}

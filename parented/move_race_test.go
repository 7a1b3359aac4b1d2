package parented_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A comment with a vote moves from one note to another. Before any of the mover's requests
// one of the notes is deleted, and before any later one the other is. The comment is never
// without a note: the second delete is refused, or the comment is where it came from.
func TestAMoveBetweenTwoDeletesLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it opens the database by name")
	const requests = 8
	for n := range int32(requests) {
		for m := n; m < requests; m++ {
			for _, oldFirst := range []bool{true, false} {
				t.Run(fmt.Sprintf("deletes before %d and %d, the old parent first %t", n+1, m+1, oldFirst), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					g := plant(t, planting{client: e.Client(nil)})
					from, to := g.tree(t, "acme", 1, 0), g.tree(t, "acme", 0, 0)
					c, err := g.comments.Under(from).First(ctx, repository.All())
					must(t, err)
					must(t, g.votes.Under(c).Create(ctx, &Vote{}))
					first, second := from.ID, to.ID
					if !oldFirst {
						first, second = second, first
					}
					told := map[string]error{}
					remove := func(id string) func() {
						return func() { told[id] = g.notes.In("acme").Delete(ctx, id, nil) }
					}
					late := &stopAt{n: m + 1, call: remove(second)}
					if m == n {
						late.call = func() { remove(first)(); remove(second)() }
					}
					early := &stopAt{n: n + 1, call: remove(first)}
					if m == n {
						early.n = never
					}
					database, err := clientOf(e, early, late).NewDatabase("notes")
					must(t, err)
					moved := open(t, database, planting{}).comments.Move(ctx, "acme", c.ID, to.Ref())

					for id, err := range told {
						if !errors.Is(err, repository.ErrHasChildren) {
							must(t, err)
						}
						if there, existsErr := g.notes.In("acme").Exists(ctx, id); existsErr != nil || there == (err == nil) {
							t.Errorf("the delete of %s said %v, and it is there: %t, %v", id, err, there, existsErr)
						}
					}
					c, err = g.comments.In("acme").Get(ctx, c.ID)
					must(t, err)
					if there, err := g.notes.In("acme").Exists(ctx, c.ParentID.String()); err != nil || !there {
						t.Errorf("the comment is under %s, which is there: %t, %v (moved: %v, deletes: %v)", c.ParentID, there, err, moved, told)
					}
					if moved == nil && c.ParentID != to.Ref() || moved != nil && c.ParentID != from.Ref() {
						t.Errorf("the move said %v, and the comment is under %s", moved, c.ParentID)
					}
				})
			}
		}
	}
}

// A mover dies at any of its requests. Resume ends the move, and what is deleted then takes
// no one else's child.
func TestResumeEndsAMoveThatDied(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := emulatortest.New(t)
			p := planting{client: e.Client(nil), note: parented.Policy{Retain: time.Hour}}
			g := plant(t, p)
			ended := 0
			for n := firstOwnRequest; ; n++ {
				from, to := g.tree(t, "acme", 1, 1), g.tree(t, "acme", 0, 0)
				c, err := g.comments.Under(from).First(ctx, repository.All())
				must(t, err)
				done := dyingAt(t, e, p, n, after, func(ctx context.Context, dying grove) error {
					return dying.comments.Move(ctx, "acme", c.ID, to.Ref())
				})
				resumed, err := g.forest.Resume(ctx, "acme")
				must(t, err)
				ended += resumed.Finished
				c, err = g.comments.In("acme").Get(ctx, c.ID)
				must(t, err)
				outline, err := engine.CollectionOf(g.comments.Items()).Outline(ctx, "acme", nil, c.ID)
				must(t, err)
				if outline.Moving != "" || c.ParentID != from.Ref() && c.ParentID != to.Ref() {
					t.Fatalf("dead at request %d: the comment is under %s, and comes from %q", n, c.ParentID, outline.Moving)
				}
				left := from.ID
				if c.ParentID == from.Ref() {
					left = to.ID
				}
				must(t, g.notes.In("acme").Delete(ctx, left, nil))
				if there, err := g.comments.In("acme").Exists(ctx, c.ID); err != nil || !there {
					t.Fatalf("dead at request %d: the comment went with a note that is not its own (%v)", n, err)
				}
				if done {
					break
				}
			}
			if ended == 0 {
				t.Error("no death left a move to be ended")
			}
		})
	}
}

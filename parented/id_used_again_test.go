package parented_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

func noteOf(id, title string) *Note {
	n := &Note{Title: title}
	n.ID = id
	return n
}

// A delete with a plan dies, the tree grows, and somebody creates a note of the same id. Resume in its place says that the delete is refused and the
// tree stands (TestAPlanBindsItsOwnDelete): so the create is a conflict.
func TestACreateEndsAPlannedDeleteByItsPlan(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	emulator := processes(t)
	p := planting{client: emulator.Client(nil), vote: parented.Cascade}
	g := plant(t, p)
	note := g.tree(t, "acme", 2, 0)
	c, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
	must(t, err)
	dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
		ctx, die := context.WithCancel(ctx)
		ctx = context.WithValue(ctx, lateKey{}, &beforeBatch{after: 1, do: die}) // behind its mark
		return g.notes.In("acme").Delete(ctx, note.ID, &repository.DeleteOptions{Plan: plan.Token})
	})
	g.stray(t, "Vote", "late", "Comment", c.ID)
	err = g.notes.In("acme").Create(ctx, noteOf(note.ID, "fresh"))
	if left := g.visible(t, "acme"); left != 4 || !errors.Is(err, repository.ErrConflict) {
		t.Errorf("the create said %v, %d of 4 documents are left: %v", err, left, g.stored(t, "acme"))
	}
}

// A create meets the delete of another note of its id, whose process has died. Before it ends that, Resume does, and another process creates the id, with a
// comment. That note stays: the late create is a conflict.
func TestALateCreateLeavesAnothers(t *testing.T) {
	t.Parallel()
	for _, soft := range []parented.Policy{{}, {Retain: 24 * time.Hour}} {
		for n := 1; n < 8; n++ {
			t.Run(fmt.Sprint(soft.Retain, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				p := planting{client: e.Client(nil), vote: parented.Cascade, note: soft}
				g := plant(t, p)
				must(t, g.notes.In("acme").Create(ctx, noteOf("a", "first")))
				must(t, g.comments.UnderID("acme", "a").Create(ctx, &Comment{Body: "first"}))
				dyingAt(t, e, p, never, false, func(ctx context.Context, g grove) error {
					ctx, die := context.WithCancel(ctx)
					ctx = context.WithValue(ctx, lateKey{}, &beforeBatch{after: 1, do: die})
					return g.notes.In("acme").Delete(ctx, "a", nil)
				})
				steps := newStepper()
				late := g.of(t, e, p, steps)
				var lateErr error
				steps.start(func() {
					lateErr = late.notes.In("acme").Create(ctx, noteOf("a", "late"))
				})
				steps.step(n)
				_, err := g.forest.Resume(ctx, "acme")
				must(t, err)
				faster := g.notes.In("acme").Create(ctx, noteOf("a", "second"))
				if faster == nil {
					must(t, g.comments.UnderID("acme", "a").Create(ctx, &Comment{Body: "second"}))
				}
				steps.finish()
				got, err := g.notes.In("acme").Get(ctx, "a")
				must(t, err)
				comments, err := g.comments.In("acme").Count(ctx, repository.All())
				must(t, err)
				if faster == nil && (got.Title != "second" || comments != 1 || lateErr == nil) {
					t.Errorf("another's create succeeded, the late one said %v: there is %q with %d comments", lateErr, got.Title, comments)
				}
			})
		}
	}
}

// A batch deletes a note and is held up; Resume ends the delete, and another process creates the id again, with a comment. "An id that is used again
// meanwhile is left alone" (parented/doc.go).
func TestALateBatchDeleteLeavesAnothers(t *testing.T) {
	t.Parallel()
	for n := 1; n < 10; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			p := planting{client: e.Client(nil), vote: parented.Cascade}
			g := plant(t, p)
			must(t, g.notes.In("acme").Create(ctx, noteOf("a", "first")))
			must(t, g.comments.UnderID("acme", "a").Create(ctx, &Comment{Body: "first"}))
			steps := newStepper()
			late := g.of(t, e, p, steps)
			var lateErr error
			steps.start(func() {
				lateErr = late.notes.In("acme").Batch().Delete("a", "").Commit(ctx)
			})
			steps.step(n)
			if there, err := g.notes.In("acme").Exists(ctx, "a"); err != nil || there {
				steps.finish()
				must(t, err)
				return
			}
			_, err := g.forest.Resume(ctx, "acme")
			must(t, err)
			must(t, g.notes.In("acme").Create(ctx, noteOf("a", "second")))
			must(t, g.comments.UnderID("acme", "a").Create(ctx, &Comment{Body: "second"}))
			steps.finish()
			there, err := g.notes.In("acme").Exists(ctx, "a")
			must(t, err)
			if !there {
				t.Errorf("the batch said %v; the note that was created since is gone: %v", lateErr, g.stored(t, "acme"))
			}
		})
	}
}

// cutAfter loses the answer to the n-th batch, after something else has been done.
type cutAfter struct {
	n    int32
	seen atomic.Int32
	do   func()
}

func (c *cutAfter) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().Header.Get("x-ms-cosmos-is-batch-request") == "" || c.seen.Add(1) != c.n {
		return req.Next()
	}
	resp, err := req.Next()
	if err == nil {
		_ = resp.Body.Close()
		c.do()
		err = errors.New("connection reset by peer")
	}
	return nil, err
}

// The answer to the first write of a delete is lost; Resume ends the delete, and another process creates the id again, with a comment, before the deleter looks.
func TestALostDeleteLeavesAnothers(t *testing.T) {
	t.Parallel()
	for _, soft := range []parented.Policy{{}, {Retain: 24 * time.Hour}} {
		t.Run(fmt.Sprint(soft.Retain), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			p := planting{client: e.Client(nil), vote: parented.Cascade, note: soft}
			g := plant(t, p)
			must(t, g.notes.In("acme").Create(ctx, noteOf("a", "first")))
			must(t, g.comments.UnderID("acme", "a").Create(ctx, &Comment{Body: "first"}))
			met := false
			late := g.of(t, e, p, &cutAfter{n: 1, do: func() {
				met = true
				_, err := g.forest.Resume(ctx, "acme")
				must(t, err)
				must(t, g.notes.In("acme").Create(ctx, noteOf("a", "second")))
				must(t, g.comments.UnderID("acme", "a").Create(ctx, &Comment{Body: "second"}))
			}})
			err := late.notes.In("acme").Delete(ctx, "a", nil)
			there, lookErr := g.notes.In("acme").Exists(ctx, "a")
			must(t, lookErr)
			if !there || !met {
				t.Errorf("met %t; the delete said %v; the note that was created since is gone: %v", met, err, g.stored(t, "acme"))
			}
		})
	}
}

// A note was deleted softly under its former name. One process is about to write its id over that, when it is purged, and another creates the id, under the
// present name, with success. "One id" (docs/deletes.md).
func TestALateWriteMakesNoSecondDocumentOfAnID(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"create", "upsert", "upsert of what is there"} {
		for n := 1; n < 6; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				g := plant(t, planting{client: e.Client(nil)})
				kept := parented.Policy{Retain: 24 * time.Hour}
				former, now := named(t, g, e, true, kept), named(t, g, e, false, kept)
				must(t, former.notes.In("acme").Create(ctx, noteOf("a", "former")))
				if how != "upsert of what is there" {
					must(t, now.notes.In("acme").Delete(ctx, "a", nil))
				}
				steps := newStepper()
				late := named(t, g, e, false, kept, steps)
				var lateErr error
				steps.start(func() {
					if how == "create" {
						lateErr = late.notes.In("acme").Create(ctx, noteOf("a", "late"))
					} else {
						lateErr = late.notes.In("acme").Upsert(ctx, noteOf("a", "late"))
					}
				})
				steps.step(n)
				if how == "upsert of what is there" {
					must(t, now.notes.In("acme").Delete(ctx, "a", nil))
				}
				purged := now.notes.In("acme").Purge(ctx, "a")
				created := now.notes.In("acme").Create(ctx, noteOf("a", "second"))
				steps.finish()
				count, err := now.notes.In("acme").Count(ctx, repository.Where(repository.Eq("id", "a")))
				must(t, err)
				if count != 1 {
					got, err := now.notes.In("acme").Get(ctx, "a")
					t.Errorf("%d notes have the id; purge %v, create %v, the late %s %v; a read gives %+v, %v", count, purged, created, how, lateErr, got, err)
				}
			})
		}
	}
}

package parented_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// named opens notes, comments and replies under their former names, or under the present ones.
func named(t *testing.T, g grove, e *emulatortest.Emulator, former bool, kept parented.Policy, policies ...policy.Policy) twoLevels {
	t.Helper()
	database, err := clientOf(e, policies...).NewDatabase(g.database.ID())
	must(t, err)
	container, err := database.NewContainer("items")
	must(t, err)
	cfg := func(name string) repository.Config {
		if former {
			return repository.Config{EntityType: "Former" + name}
		}
		return repository.Config{EntityType: name, Aliases: []string{"Former" + name}}
	}
	l := twoLevels{forest: parented.NewForest(parented.ForestConfig{})}
	l.notes, err = repository.New[Note](container, cfg("Note"))
	must(t, err)
	must(t, parented.Register(l.forest, l.notes, kept))
	l.comments, err = parented.New[Comment](l.forest, l.notes, container, parented.Config{Config: cfg("Comment"), Rule: parented.Cascade, Policy: kept})
	must(t, err)
	l.replies, err = parented.New[Reply](l.forest, l.comments.Items(), container, parented.Config{Config: cfg("Reply"), Rule: parented.Cascade})
	must(t, err)
	return l
}

// A note that is stored under a former name is deleted, and its id used again at each request of that; its process lives, or
// has died. The delete comes to an end, and the new note has none of its children.
func TestAnIDOfAFormerNameIsUsedAgain(t *testing.T) {
	t.Parallel()
	for _, kept := range []parented.Policy{{}, {Retain: 24 * time.Hour}} {
		for _, dies := range []bool{false, true} {
			for n := 1; n < 16; n++ {
				t.Run(fmt.Sprint(kept.Retain, dies, n), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					g := plant(t, planting{client: e.Client(nil)})
					former := named(t, g, e, true, kept)
					note := &Note{}
					note.ID = "a"
					must(t, former.notes.In("acme").Create(ctx, note))
					for range 2 {
						c := &Comment{}
						must(t, former.comments.Under(note).Create(ctx, c))
						must(t, former.replies.Under(c).Create(ctx, &Reply{}))
					}
					steps := newStepper()
					mortal, die := context.WithCancel(ctx)
					defer die()
					deleter := named(t, g, e, false, kept, steps)
					var deleted error
					steps.start(func() {
						deleted = deleter.notes.In("acme").Delete(mortal, "a", nil)
					})
					steps.step(n)
					end := sync.OnceFunc(steps.finish)
					if dies {
						die()
						end()
					}
					now := named(t, g, e, false, kept)
					if there, err := now.notes.In("acme").Exists(ctx, "a"); err != nil || there {
						die()
						end()
						return
					}
					fresh := &Note{}
					fresh.ID = "a"
					must(t, now.notes.In("acme").Create(ctx, fresh))
					end()
					if !dies {
						must(t, deleted)
					}
					e.Clock().Advance(time.Hour)
					_, err := now.forest.Resume(ctx, "acme")
					must(t, err)
					_, err = now.forest.Sweep(ctx, "acme", nil)
					must(t, err)
					count, err := now.comments.Under(fresh).Count(ctx, repository.All())
					must(t, err)
					if count != 0 {
						t.Errorf("the new note has %d comments", count)
					}
					again, err := now.forest.Resume(ctx, "acme")
					must(t, err)
					if again.Finished != 0 {
						t.Errorf("a second Resume found %+v", again)
					}
				})
			}
		}
	}
}

// What was deleted softly under a former name is written over where it stands: neither a purge nor a restore finds a second document of the id.
func TestOneDocumentOfAnIDUnderTwoNames(t *testing.T) {
	t.Parallel()
	for how, write := range map[string]func(ctx context.Context, at *repository.Scope[Comment], c *Comment) error{
		"create": func(ctx context.Context, at *repository.Scope[Comment], c *Comment) error { return at.Create(ctx, c) },
		"upsert": func(ctx context.Context, at *repository.Scope[Comment], c *Comment) error { return at.Upsert(ctx, c) },
		"many": func(ctx context.Context, at *repository.Scope[Comment], c *Comment) error {
			other := &Comment{}
			other.ParentID = c.ParentID
			_, err := at.SaveAll(ctx, slices.Values([]*Comment{c, other}), nil)
			return err
		},
		"batch": func(ctx context.Context, at *repository.Scope[Comment], c *Comment) error {
			return at.Batch().Create(c).Commit(ctx)
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			g := plant(t, planting{client: e.Client(nil)})
			kept := parented.Policy{Retain: 24 * time.Hour}
			former, now := named(t, g, e, true, kept), named(t, g, e, false, kept)
			for _, id := range []string{"a", "b"} {
				note := &Note{}
				note.ID = id
				must(t, former.notes.In("acme").Create(ctx, note))
			}
			c := &Comment{Body: "former"}
			c.ID = "c"
			must(t, former.comments.UnderID("acme", "a").Create(ctx, c))
			must(t, now.notes.In("acme").Delete(ctx, "a", nil))
			fresh := &Comment{Body: "fresh"}
			fresh.ID, fresh.ParentID = "c", "b"
			err := write(ctx, now.comments.In("acme"), fresh)
			must(t, now.notes.In("acme").Restore(ctx, "a"))
			count, countErr := now.comments.In("acme").Count(ctx, repository.Where(repository.Eq("id", "c")))
			must(t, countErr)
			got, getErr := now.comments.In("acme").Get(ctx, "c")
			must(t, getErr)
			if want := map[bool]string{true: "fresh", false: "former"}[err == nil]; count != 1 || got.Body != want {
				t.Errorf("%d documents, %q, want %q; the write said %v", count, got.Body, want, err)
			}
			if how == "create" || how == "upsert" {
				must(t, err)
			} else {
				mustBe(t, err, repository.ErrConflict)
			}
			must(t, now.comments.In("acme").Delete(ctx, "c", nil))
			must(t, now.comments.In("acme").Purge(ctx, "c"))
			mustBe(t, now.comments.In("acme").Restore(ctx, "c"), repository.ErrNotFound)
		})
	}
}

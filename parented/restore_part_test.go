package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A comment went with its note; the note's id is used again later, and the comment is restored by itself. It comes back whole or not at all.
func TestAPartIsRestoredWhole(t *testing.T) {
	t.Parallel()
	for _, child := range []parented.Policy{{Retain: time.Hour}, {Retain: time.Hour, Tombstone: 72 * time.Hour}, {Retain: 72 * time.Hour}} {
		for _, anew := range []time.Duration{time.Minute, 30 * time.Hour} {
			t.Run(fmt.Sprint(child, anew), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				g := plant(t, planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}, child: child, vote: parented.Cascade})
				note := g.tree(t, "acme", 1, 2)
				c, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
				e.Clock().Advance(anew)
				fresh := &Note{}
				fresh.ID = note.ID
				must(t, g.notes.In("acme").Create(ctx, fresh))
				for _, at := range []time.Duration{20 * time.Hour, 24*time.Hour + 30*time.Minute, 26 * time.Hour, 40 * time.Hour, 50 * time.Hour} {
					if at < anew {
						continue
					}
					e.Clock().Advance(at - anew)
					anew = at
					restored := g.comments.In("acme").Restore(ctx, c.ID)
					replies, err := g.replies.In("acme").Count(ctx, repository.All())
					must(t, err)
					comments, err := g.comments.In("acme").Count(ctx, repository.All())
					must(t, err)
					if replies != 2*comments {
						t.Errorf("after %v: restore %v, %d comments, %d replies of 2", at, restored, comments, replies)
					}
					if restored == nil {
						must(t, g.comments.In("acme").Delete(ctx, c.ID, nil))
						break
					}
				}
			})
		}
	}
}

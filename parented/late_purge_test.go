package parented_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Two processes carry out one soft delete; the faster one ends it, and the id is used again. The slower one goes on: nothing of the
// old tree comes back below the new document.
func TestNothingReturnsUnderAnIDThatIsUsedAgain(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	for _, how := range []string{"create", "upsert"} {
		for n := int32(1); n <= 9; n++ {
			t.Run(fmt.Sprintf("%s, the slower one stops at %d", how, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				first, note := plantApart(t, e.Client(nil))
				slow := pauseAt(n)
				late := openApart(t, clientOf(e, slow))
				lingering := slow.until(func() { _ = late.notes.In("acme").Delete(ctx, note.ID, nil) })
				if err := first.notes.In("acme").Delete(ctx, note.ID, nil); err != nil && !errors.Is(err, repository.ErrNotFound) {
					t.Error(err)
				}
				fresh := &Note{Title: "new"}
				fresh.ID = note.ID
				if how == "create" {
					must(t, first.notes.In("acme").Create(ctx, fresh))
				} else {
					must(t, first.notes.In("acme").Upsert(ctx, fresh))
				}
				close(slow.goOn)
				<-lingering
				if n := first.count(t); n != 0 {
					t.Errorf("%d comments came back", n)
				}
			})
		}
	}
}

// A comment of a deleted note is purged, by a process that is slow or dies, while the note is restored and a sweep comes by. The comment
// goes, or stays with all its replies.
func TestASweepUndoesNoPurge(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	for _, dies := range []bool{false, true} {
		for n := int32(1); n <= 12; n++ {
			t.Run(fmt.Sprintf("it dies: %t, it stops at %d", dies, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				day := parented.Policy{Retain: 24 * time.Hour}
				g := plant(t, planting{client: e.Client(nil), note: day, child: day})
				note := g.tree(t, "acme", 1, 2)
				comment, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))

				slow := pauseAt(n)
				database, err := clientOf(e, slow).NewDatabase(g.database.ID())
				must(t, err)
				other := open(t, database, planting{note: day, child: day})
				purged := errors.New("died")
				lingering := slow.until(func() { purged = other.comments.In("acme").Purge(ctx, comment.ID) })
				if err := g.notes.In("acme").Restore(ctx, note.ID); err != nil {
					t.Error(err)
				}
				_, err = g.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: -time.Hour})
				must(t, err)
				if dies {
					_, err := g.forest.Resume(ctx, "acme")
					must(t, err)
				} else {
					close(slow.goOn)
					<-lingering
				}
				comments, err := g.comments.In("acme").Count(ctx, repository.All())
				must(t, err)
				replies, err := g.replies.In("acme").Count(ctx, repository.All())
				must(t, err)
				if comments == 1 && (!dies && purged == nil || replies != 2) {
					t.Errorf("the purge returned %v; %d comments and %d replies are there", purged, comments, replies)
				}
				if dies {
					close(slow.goOn)
					<-lingering
				}
			})
		}
	}
}

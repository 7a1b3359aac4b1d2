package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A sweep has read a page of children. Then a comment moves to another note, or its id is used again there, and its former note is
// deleted. The sweep goes on with what it has read, and leaves the comment, and its replies, where they are.
func TestASweepTakesNoChildThatHasMoved(t *testing.T) {
	t.Parallel()
	for name, soft := range map[string]parented.Policy{"deleted for good": {}, "purged": {Retain: 24 * time.Hour}} {
		for _, again := range []string{"moved", "created anew"} {
			for n := 1; n < 12; n++ {
				t.Run(fmt.Sprint(name, " ", again, " ", n), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					p := planting{client: e.Client(nil), note: soft, vote: parented.Cascade}
					g := plant(t, p)
					former, other := g.tree(t, "acme", 1, 2), g.tree(t, "acme", 0, 0)
					c, err := g.comments.Under(former).First(ctx, repository.All())
					must(t, err)
					e.Clock().Advance(time.Hour)

					steps := newStepper()
					p.client = clientOf(e, steps)
					database, err := p.client.NewDatabase(g.database.ID())
					must(t, err)
					sweeper := open(t, database, p)
					var swept parented.Swept
					var sweepErr error
					steps.start(func() {
						swept, sweepErr = sweeper.forest.Sweep(ctx, "acme", nil)
					})
					steps.step(n)
					want := int64(2)
					if again == "moved" {
						must(t, g.comments.Move(ctx, "acme", c.ID, other.Ref()))
						must(t, g.notes.In("acme").Delete(ctx, former.ID, nil))
					} else {
						must(t, g.notes.In("acme").Delete(ctx, former.ID, nil))
					}
					if soft.Retain > 0 {
						must(t, g.notes.In("acme").Purge(ctx, former.ID))
					}
					if again != "moved" {
						fresh := &Comment{}
						fresh.ID = c.ID
						must(t, g.comments.Under(other).Create(ctx, fresh))
						want = 0
					}
					steps.finish()
					comments, err := g.comments.Under(other).Count(ctx, repository.All())
					must(t, err)
					replies, err := g.replies.In("acme").Count(ctx, repository.All())
					must(t, err)
					if comments != 1 || replies != want {
						t.Errorf("%d comments and %d replies of 1 and %d are there; the sweep says %v, %v; stored %v", comments, replies, want, swept, sweepErr, g.stored(t, "acme"))
					}
				})
			}
		}
	}
}

package parented_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// What is swept late in the time of its parent expires with it, an hour later at most.
func TestSweptLateExpiresWithItsParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it moves the clock")
	for _, how := range leavings() {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			l := leaveBehind(t, how)
			l.emulator.Clock().Advance(23 * time.Hour)
			_, err := l.forest.Sweep(t.Context(), "acme", anyAge)
			must(t, err)
			l.emulator.Clock().Advance(4 * time.Hour)
			if left := l.stored(t, "acme"); len(left) != 0 {
				t.Errorf("27 hours after the delete of a note that is kept for 24 there are still %v", left)
			}
		})
	}
}

// A sweep dies while it removes a vote that the delete of its comment had hidden and left. Nothing of the vote stays hidden for ever, though the id of the comment is
// used again before the next sweep.
func TestASweepThatDiesLeavesNothingHidden(t *testing.T) {
	t.Parallel()
	const requests = 12
	for n := 2; n <= requests; n++ { // the first two look at the account
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t)
			p := planting{client: e.Client(nil), vote: parented.Cascade}
			g := plant(t, p)
			note := g.tree(t, "acme", 0, 0)
			container, err := g.database.NewContainer("items")
			must(t, err)
			left := `{"id": "v", "tenantId": "acme", "entityType": "Vote", "parentId": "c", "parentEntityType": "Comment", "deletedAt": "2026-01-02T03:04:05Z", "ttl": -1, "_deletion": {"phase": "part", "run": "r"}}`
			_, err = container.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Vote"), []byte(left), nil)
			must(t, err)
			ended := dyingAt(t, e, p, n, false, func(ctx context.Context, g grove) error {
				_, err := g.forest.Sweep(ctx, "acme", anyAge)
				return err
			})
			c := &Comment{}
			c.ID = "c"
			must(t, g.comments.Under(note).Create(ctx, c))
			_, err = g.forest.Resume(ctx, "acme")
			must(t, err)
			_, err = g.forest.Sweep(ctx, "acme", anyAge)
			must(t, err)
			visible, err := g.votes.In("acme").Count(ctx, repository.All())
			must(t, err)
			if stored := g.stored(t, "acme")["Vote"]; stored != visible {
				t.Errorf("died at request %d: %d votes are stored, %d are there", n, stored, visible)
			}
			if n == requests && !ended {
				t.Error("the sweep has more requests than were tried")
			}
		})
	}
}

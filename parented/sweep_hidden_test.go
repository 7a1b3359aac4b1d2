package parented_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// A process dies while it finds out whether a note may go, and the note is removed around Grove, as an erasure does. What the delete had hidden by
// then is not hidden for ever: a sweep deletes it, or where Restrict keeps something below, brings it back and counts it.
func TestASweepHidesNothingThatIsKept(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it ends processes")
	const requests = 12
	for n := range int32(requests) {
		t.Run(fmt.Sprint("it dies after ", n+1), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t)
			p := planting{client: e.Client(repository.ClientOptions(nil))}
			g := plant(t, p)
			note := g.tree(t, "acme", 2, 1)
			comments := g.commentIDs(t)

			mortal, die := context.WithCancel(ctx)
			defer die()
			p.client = clientOf(e, &diesAfter{n: n + 1, die: die}, &voteFirst{t: t, g: g, comment: comments[0]})
			database, err := p.client.NewDatabase(g.database.ID())
			must(t, err)
			_ = open(t, database, p).notes.In("acme").Delete(mortal, note.ID, nil)

			container, err := g.database.NewContainer("items")
			must(t, err)
			_, _ = container.DeleteItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Note"), note.ID, nil)
			for range 2 {
				_, err = g.forest.Resume(ctx, "acme")
				must(t, err)
				_, err = g.forest.Sweep(ctx, "acme", anyAge)
				must(t, err)
			}
			stored := g.stored(t, "acme")
			visible, err := g.comments.In("acme").Count(ctx, repository.All())
			must(t, err)
			if visible != stored["Comment"] {
				t.Errorf("%d comments are stored, and %d can be seen", stored["Comment"], visible)
			}
			if stored["Vote"] > 0 {
				if stored["Reply"] != 1 {
					t.Errorf("%d replies are left to the comment with the vote", stored["Reply"])
				}
				if _, err := g.comments.In("acme").Get(ctx, comments[0]); err != nil {
					t.Errorf("the comment with the vote: %v", err)
				}
			}
		})
	}
}

// So it is with a child under Restrict that was hidden with its parent, which is gone.
func TestASweepShowsWhatRestrictKeeps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := plant(t, planting{client: processes(t).Client(nil)})
	container, err := g.database.NewContainer("items")
	must(t, err)
	raw := `{"id":"v","tenantId":"acme","entityType":"Vote","parentId":"gone","up":true,"deletedAt":"2026-01-02T03:04:05Z","ttl":-1,"_deletion":{"phase":"part","run":"x","ttl":7200}}`
	_, err = container.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Vote"), []byte(raw), nil)
	must(t, err)
	for range 2 {
		swept, err := g.forest.Sweep(ctx, "acme", anyAge)
		if must(t, err); swept["Vote"] != 1 {
			t.Errorf("swept %v", swept)
		}
	}
	if _, err := g.votes.In("acme").Get(ctx, "v"); err != nil {
		t.Error(err)
	}
}

func (g grove) commentIDs(t *testing.T) (ids []string) {
	t.Helper()
	for c, err := range g.comments.In("acme").Query(t.Context(), repository.All()) {
		must(t, err)
		ids = append(ids, c.ID)
	}
	return ids
}

// voteFirst lets another process vote for a comment once the note is hidden.
type voteFirst struct {
	t       *testing.T
	g       grove
	comment string
	done    atomic.Bool
}

func (v *voteFirst) Do(req *policy.Request) (*http.Response, error) {
	answer, err := req.Next()
	if aboutDocuments(req) && req.Raw().Header.Get("x-ms-cosmos-is-batch-request") != "" && err == nil && v.done.CompareAndSwap(false, true) {
		must(v.t, v.g.votes.In("acme").Create(context.Background(), voteUnder(v.comment)))
	}
	return answer, err
}

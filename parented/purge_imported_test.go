package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// An import writes over a deleted tree, as it was exported, while it is purged: over what is below the note at one request of the purge, and over
// the note at a later one. A purge that says it is done has left no note that can be restored in part.
func TestAPurgeOfWhatIsImported(t *testing.T) {
	t.Parallel()
	for n := 1; n < 24; n++ {
		for m := range 12 {
			t.Run(fmt.Sprint(n, " ", m), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}, vote: parented.Cascade, config: parented.ForestConfig{PageSize: 1}}
				g := plant(t, p)
				note := g.tree(t, "acme", 3, 1)
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
				container, err := g.database.NewContainer("items")
				must(t, err)
				key := func(name string) azcosmos.PartitionKey {
					return azcosmos.NewPartitionKeyString("acme").AppendString(name)
				}
				exported := map[string][][]byte{}
				for _, name := range []string{"Note", "Comment", "Reply"} {
					pages := container.NewQueryItemsPager("SELECT * FROM c", key(name), nil)
					for pages.More() {
						page, err := pages.NextPage(ctx)
						must(t, err)
						exported[name] = append(exported[name], page.Items...)
					}
				}
				load := func(names ...string) {
					for _, name := range names {
						for _, raw := range exported[name] {
							_, err := container.UpsertItem(ctx, key(name), raw, nil)
							must(t, err)
						}
					}
				}

				steps := newStepper()
				purger := g.of(t, e, p, steps)
				var purged error
				steps.start(func() { purged = purger.notes.In("acme").Purge(ctx, note.ID) })
				steps.step(n)
				load("Comment", "Reply")
				steps.step(m)
				select {
				case <-steps.ended: // what is imported later is there by itself
					steps.finish()
					return
				default:
				}
				load("Note")
				steps.finish()
				if purged != nil {
					mustBe(t, purged, repository.ErrAmbiguous)
					return
				}
				if g.notes.In("acme").Restore(ctx, note.ID) != nil {
					return
				}
				if left, err := g.comments.In("acme").Count(ctx, repository.All()); err != nil || left != 3 {
					t.Errorf("the purge said that it is done, and the note was restored with %d of 3 comments, %v", left, err)
				}
			})
		}
	}
}

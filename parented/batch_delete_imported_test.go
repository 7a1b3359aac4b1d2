package parented_test

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// An import writes over a note, as it was stored, at each request of a batch that deletes it. A batch that says it is done has taken all that was
// below the note.
func TestABatchDeleteOfWhatIsImported(t *testing.T) {
	t.Parallel()
	for n := 1; n < 40; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
			p := planting{client: e.Client(nil), vote: parented.Cascade, config: parented.ForestConfig{PageSize: 1}}
			g := plant(t, p)
			note := g.tree(t, "acme", 3, 1)
			container, err := g.database.NewContainer("items")
			must(t, err)
			key := azcosmos.NewPartitionKeyString("acme").AppendString("Note")
			stored, err := container.ReadItem(ctx, key, note.ID, nil)
			must(t, err)

			steps := newStepper()
			deleter := g.of(t, e, p, steps)
			var deleted error
			steps.start(func() { deleted = deleter.notes.In("acme").Batch().Delete(note.ID, "").Commit(ctx) })
			steps.step(n)
			there, err := g.notes.In("acme").Exists(ctx, note.ID)
			must(t, err)
			if _, err := container.UpsertItem(ctx, key, stored.Value, nil); err != nil {
				t.Fatal(err)
			}
			steps.finish()
			left, err := g.comments.In("acme").Count(ctx, repository.All())
			must(t, err)
			switch {
			case deleted != nil:
				mustBe(t, deleted, repository.ErrAmbiguous)
			case left != 0:
				t.Errorf("the batch said that it is done, and %d comments are left (the note was there: %t)", left, there)
			}
		})
	}
}

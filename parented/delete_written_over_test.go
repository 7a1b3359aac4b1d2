package parented_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// An Upsert writes over a note at each request of its delete. A delete that says it is done has taken all that was below the note; one that was
// stopped in the middle says that it does not know.
func TestADeleteOfWhatIsWrittenOver(t *testing.T) {
	t.Parallel()
	for _, kept := range []parented.Policy{{}, {Retain: 24 * time.Hour}} {
		for n := 1; n < 40; n++ {
			t.Run(fmt.Sprint(kept.Retain, n), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				p := planting{client: e.Client(nil), note: kept, vote: parented.Cascade, config: parented.ForestConfig{PageSize: 1}}
				g := plant(t, p)
				note := g.tree(t, "acme", 3, 1)
				steps := newStepper()
				deleter := g.of(t, e, p, steps)
				var deleted error
				steps.start(func() {
					deleted = deleter.notes.In("acme").Delete(ctx, note.ID, nil)
				})
				steps.step(n)
				fresh := &Note{Title: "fresh"}
				fresh.ID = note.ID
				must(t, g.notes.In("acme").Upsert(ctx, fresh))
				steps.finish()
				left, err := g.comments.In("acme").Count(ctx, repository.All())
				must(t, err)
				switch {
				case deleted != nil:
					mustBe(t, deleted, repository.ErrAmbiguous)
				case left != 0:
					t.Errorf("the delete said that it is done, and %d comments are left", left)
				}
			})
		}
	}
}

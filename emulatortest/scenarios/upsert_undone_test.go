package scenarios_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/tenantitem"
)

// TestAnUpsertDuringADeleteThatIsUndone: a comment with a reply is written anew, without a look at what is there, while the note above it is deleted and a sweep looks for
// children without parents. In the end the delete is undone: the comment is there as it was written, with its reply.
func TestAnUpsertDuringADeleteThatIsUndone(t *testing.T) {
	t.Parallel()
	for _, sweeps := range []bool{false, true} {
		t.Run(fmt.Sprintf("with a sweep: %t", sweeps), func(t *testing.T) {
			t.Parallel()
			r := cascade()
			actors := []emulatortest.Actor{
				{Name: "writer", Do: func(w *emulatortest.World) error {
					c := &Comment{Body: "new"}
					c.ID, c.ParentID = "c", tenantitem.Ref[Note]("a")
					err := branchOf(w, r).comments.In("acme").Upsert(w.Context(), c)
					emulatortest.State[answers](w).first = err
					return refused(err)
				}},
				{Name: "deleter", Do: func(w *emulatortest.World) error { return refused(deleteOf(w, branchOf(w, r), "a")) }},
			}
			if sweeps {
				actors = append(actors, emulatortest.Actor{Name: "sweeper", Do: func(w *emulatortest.World) error {
					_, err := branchOf(w, r).forest.Sweep(w.Context(), "acme", &parented.SweepOptions{MinAge: time.Nanosecond})
					return refused(err)
				}})
			}
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup:  func(w *emulatortest.World) { setupReplies(w, "m") },
				Actors: actors,
				Then: func(w *emulatortest.World) {
					b := branchOf(w, r)
					_, err := b.forest.Resume(w.Context())
					must(w, err)
					must(w, refused(restoreOf(w, b, "a")))
				},
				Check: func(w *emulatortest.World) error {
					seen, err := standing(w, r)
					if err != nil {
						return err
					}
					if seen["c"] != "a" || seen["r"] != "c" || seen["x"] != "b" || seen["m"] != "x" {
						return fmt.Errorf("the trees are not whole: %v", seen)
					}
					c, err := branchOf(w, r).comments.In("acme").Get(w.Context(), "c")
					if err != nil {
						return err
					}
					switch written := outcomeOf(w, "writer", emulatortest.State[answers](w).first); {
					case written == nil && c.Body != "new":
						return fmt.Errorf("the write succeeded, and the comment has %q", c.Body)
					case isDefinite(written) && c.Body == "new":
						return fmt.Errorf("the write was refused (%w), and the comment has it", written)
					}
					return dangling(seen)
				},
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kindsOf("suspended"), Sabotage: lostNote("b")})
		})
	}
}

package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// planned is what a person was shown, and what became of it.
type planned struct {
	token string
	answers
}

// TestAPlannedDeleteTakesNoMore: while a tree is deleted with the plan that a person has seen, another comment moves there, or is made there. It is not deleted with
// the tree: the delete is refused, or the other comment is where it was, or never was.
func TestAPlannedDeleteTakesNoMore(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(w *emulatortest.World, b branch) error{
		"move": func(w *emulatortest.World, b branch) error { return b.comments.Move(w.Context(), "acme", "d", "a") },
		"create": func(w *emulatortest.World, b branch) error {
			c := &Comment{Body: "new"}
			c.ID = "new"
			return b.comments.UnderID("acme", "a").Create(w.Context(), c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := cascade()
			exploreTreeOf(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) {
					setupBranch(w, true)
					b := branchOf(w, r)
					d := &Comment{Body: "d"}
					d.ID = "d"
					must(w, b.comments.UnderID("acme", "b").Create(w.Context(), d))
					plan, err := b.notes.In("acme").PlanDelete(w.Context(), "a")
					must(w, err)
					emulatortest.State[planned](w).token = plan.Token
				},
				Actors: []emulatortest.Actor{
					{Name: "deleter", Do: func(w *emulatortest.World) error {
						p := emulatortest.State[planned](w)
						p.first = branchOf(w, r).notes.In("acme").Delete(w.Context(), "a", &repository.DeleteOptions{Plan: p.token})
						return refused(p.first)
					}},
					{Name: "writer", Do: func(w *emulatortest.World) error {
						p := emulatortest.State[planned](w)
						p.second = add(w, branchOf(w, r))
						return refused(p.second)
					}},
				},
				Then: mend(r),
				Check: func(w *emulatortest.World) error {
					seen, err := standing(w, r)
					if err != nil {
						return err
					}
					p := emulatortest.State[planned](w)
					deleted, written := outcomeOf(w, "deleter", p.first), outcomeOf(w, "writer", p.second)
					_, tree := seen["a"]
					_, fresh := seen["new"]
					switch {
					case seen["b"] != "root" || seen["d"] == "":
						return fmt.Errorf("what no plan showed is gone: %v (the delete returned %w)", seen, deleted)
					case deleted == nil && tree, isDefinite(deleted) && !tree:
						return fmt.Errorf("the delete returned %w, and the tree is there: %v", deleted, seen)
					case tree && (seen["c"] != "a" || seen["r"] != "c"):
						return fmt.Errorf("the tree is there, and not whole: %v", seen)
					case name == "create" && written == nil && !fresh:
						return fmt.Errorf("a comment was made, and went without having been shown: %v", seen)
					}
					return dangling(seen)
				},
			}, lostNote("b"))
		})
	}
}

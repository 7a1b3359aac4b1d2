package scenarios_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
)

// TestASweepAppliesTheRule: children whose parent is gone, written around the forest, are removed, orphaned or kept as their rule says, though the
// sweep is killed at any request, and a child that is alive is never touched.
func TestASweepAppliesTheRule(t *testing.T) {
	t.Parallel()
	for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
		r := rules{rule, parented.Cascade}
		t.Run(rule.String(), func(t *testing.T) {
			t.Parallel()
			exploreTreeOf(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) {
					setupBranch(w, true)
					s := &Comment{Body: "stray"}
					s.ID = "stray"
					must(w, branchOf(w, cascade()).comments.UnderID("acme", "b").Create(w.Context(), s))
					must(w, notesOf(w).Delete(w.Context(), "b", nil))
				},
				Actors: []emulatortest.Actor{{Name: "sweeper", Do: func(w *emulatortest.World) error {
					time.Sleep(2 * time.Minute)
					_, err := branchOf(w, r).forest.Sweep(w.Context(), "acme", nil)
					return err
				}}},
				Then: mend(r),
				Check: func(w *emulatortest.World) error {
					seen, err := standing(w, r)
					if err != nil {
						return err
					}
					parent, there := seen["stray"]
					switch {
					case seen["a"] != "root" || seen["c"] != "a" || seen["r"] != "c":
						return fmt.Errorf("a tree that is alive was swept: %v", seen)
					case rule == parented.Cascade && there, rule == parented.Orphan && (!there || parent != ""), rule == parented.Restrict && parent != "b":
						return fmt.Errorf("under %v the child whose parent is gone is there: %v, under %q", rule, there, parent)
					}
					return nil
				},
			}, lostNote("a"))
		})
	}
}

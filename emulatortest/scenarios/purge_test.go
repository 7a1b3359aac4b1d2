package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
)

// TestAPurgeAndARestore: of a purge and a restore of one tree one wins, and the tree is whole or gone.
func TestAPurgeAndARestore(t *testing.T) {
	t.Parallel()
	exploreTreeOf(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupBranch(w, true)
			must(w, branchOf(w, cascade()).notes.In("acme").Delete(w.Context(), "a", nil))
		},
		Actors: []emulatortest.Actor{
			{Name: "purger", Do: func(w *emulatortest.World) error {
				err := branchOf(w, cascade()).notes.In("acme").Purge(w.Context(), "a")
				emulatortest.State[answers](w).first = err
				return refused(err)
			}},
			{Name: "restorer", Do: func(w *emulatortest.World) error {
				err := branchOf(w, cascade()).notes.In("acme").Restore(w.Context(), "a")
				emulatortest.State[answers](w).second = err
				return refused(err)
			}},
		},
		Then: mend(cascade()),
		Check: func(w *emulatortest.World) error {
			seen, err := standing(w, cascade())
			if err != nil {
				return err
			}
			told := emulatortest.State[answers](w)
			purged, restored := outcomeOf(w, "purger", told.first), outcomeOf(w, "restorer", told.second)
			there := 0
			for _, id := range []string{"a", "c", "r"} {
				if _, ok := seen[id]; ok {
					there++
				}
			}
			switch {
			case seen["b"] != "root":
				return fmt.Errorf("another tree was changed: %v", seen)
			case there != 0 && there != 3:
				return fmt.Errorf("the tree is neither whole nor gone: %v", seen)
			case purged == nil && there != 0:
				return fmt.Errorf("the tree was purged, and is there")
			case restored == nil && there != 3:
				return fmt.Errorf("the tree was restored, and is gone (the purge returned %w)", purged)
			}
			return nil
		},
	}, lostNote("b"))
}

package scenarios_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// TestADeleteOfWhatRestricts: a tree is deleted while the child that forbids it is deleted or restored, directly below it or deeper. Either the tree
// stays, or it goes without leaving the child, and both answers are true.
func TestADeleteOfWhatRestricts(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		name  string
		rules rules
		top   string // the document whose tree is deleted
		child string // what forbids it
	}{
		{"directly below", rules{parented.Restrict, parented.Cascade}, "a", "c"},
		{"deeper", rules{parented.Cascade, parented.Restrict}, "a", "r"},
	} {
		for verb, restores := range map[string]bool{"delete": false, "restore": true} {
			t.Run(v.name+", "+verb, func(t *testing.T) {
				t.Parallel()
				remove := func(w *emulatortest.World) error {
					if v.child == "c" {
						return branchOf(w, v.rules).comments.In("acme").Delete(w.Context(), v.child, nil)
					}
					return branchOf(w, v.rules).replies.In("acme").Delete(w.Context(), v.child, nil)
				}
				change := remove
				if restores {
					change = func(w *emulatortest.World) error {
						if v.child == "c" {
							return branchOf(w, v.rules).comments.In("acme").Restore(w.Context(), v.child)
						}
						return branchOf(w, v.rules).replies.In("acme").Restore(w.Context(), v.child)
					}
				}
				exploreTreeOf(t, emulatortest.Scenario{
					Setup: func(w *emulatortest.World) {
						setupBranch(w, v.child == "r")
						if restores {
							must(w, remove(w))
						}
					},
					Actors: []emulatortest.Actor{
						{Name: "upper", Do: func(w *emulatortest.World) error {
							err := branchOf(w, v.rules).notes.In("acme").Delete(w.Context(), v.top, nil)
							emulatortest.State[answers](w).first = err
							return refused(err)
						}},
						{Name: "lower", Do: func(w *emulatortest.World) error {
							err := change(w)
							emulatortest.State[answers](w).second = err
							return refused(err)
						}},
					},
					Then: mend(v.rules),
					Check: func(w *emulatortest.World) error {
						seen, err := standing(w, v.rules)
						if err != nil {
							return err
						}
						told := emulatortest.State[answers](w)
						upper, lower := outcomeOf(w, "upper", told.first), outcomeOf(w, "lower", told.second)
						_, top := seen[v.top]
						_, child := seen[v.child]
						switch {
						case seen["b"] != "root":
							return fmt.Errorf("another tree was changed: %v", seen)
						case upper == nil && top, isDefinite(upper) && !top:
							return fmt.Errorf("the delete of the tree returned %w, and it is there: %v", upper, seen)
						case errors.Is(upper, repository.ErrHasChildren) && !top:
							return fmt.Errorf("the delete of the tree was refused, and the tree is gone: %v", seen)
						case lower == nil && child != restores && (top || !restores):
							return fmt.Errorf("the %s of the child returned %w, and the child is there: %t", verb, lower, child)
						case lower == nil && restores && !child:
							return fmt.Errorf("the child was restored, and its parent was deleted all the same: %v", seen)
						case isDefinite(lower) && !errors.Is(lower, repository.ErrNotFound) && child == restores:
							return fmt.Errorf("the %s of the child was refused (%w), and the child is there: %t", verb, lower, child)
						}
						return dangling(seen)
					},
				}, lostNote("b"))
			})
		}
	}
}

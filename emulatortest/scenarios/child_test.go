package scenarios_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// TestACreateAndADeleteOfTheParent: a child that is created while its parent is deleted is there with its parent, gone with it, or, under
// Orphan, has none; and the creator's answer is true.
func TestACreateAndADeleteOfTheParent(t *testing.T) {
	t.Parallel()
	type comments = repository.Scope[Comment]
	for name, create := range map[string]func(w *emulatortest.World, s *comments, c *Comment) error{
		"Create": func(w *emulatortest.World, s *comments, c *Comment) error { return s.Create(w.Context(), c) },
		"Upsert": func(w *emulatortest.World, s *comments, c *Comment) error { return s.Upsert(w.Context(), c) },
		"Batch of Upsert": func(w *emulatortest.World, s *comments, c *Comment) error {
			return s.Batch().Upsert(c).Commit(w.Context())
		},
	} {
		for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
			t.Run(name+" under "+rule.String(), func(t *testing.T) {
				t.Parallel()
				exploreACreate(t, nil, rules{rule, parented.Cascade}, create)
			})
			t.Run(name+" in the parent's partition, under "+rule.String(), func(t *testing.T) {
				t.Parallel()
				exploreACreate(t, shared(), rules{rule, parented.Cascade}, create)
			})
		}
	}
}

func exploreACreate(t *testing.T, paths []string, r rules, create func(*emulatortest.World, *repository.Scope[Comment], *Comment) error) {
	t.Helper()
	exploreTreeOf(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			emulatortest.State[shape](w).paths = paths
			setupBranch(w, false)
		},
		Actors: []emulatortest.Actor{
			{Name: "creator", Do: func(w *emulatortest.World) error {
				c := &Comment{Body: "new"}
				c.ID, c.ParentID = "new", "b"
				err := create(w, branchOf(w, r).comments.In("acme"), c)
				emulatortest.State[answers](w).first = err
				return refused(err)
			}},
			{Name: "deleter", Do: func(w *emulatortest.World) error {
				err := branchOf(w, r).notes.In("acme").Delete(w.Context(), "b", nil)
				emulatortest.State[answers](w).second = err
				return refused(err)
			}},
		},
		Then: mend(r),
		Check: func(w *emulatortest.World) error {
			seen, err := standing(w, r)
			if err != nil {
				return err
			}
			told := emulatortest.State[answers](w)
			created, deleted := outcomeOf(w, "creator", told.first), outcomeOf(w, "deleter", told.second)
			_, child := seen["new"]
			_, parent := seen["b"]
			switch {
			case seen["a"] == "" || seen["c"] != "a":
				return fmt.Errorf("another tree was changed: %v", seen)
			case deleted == nil && parent:
				return fmt.Errorf("the parent was deleted, and is there")
			case isDefinite(deleted) && !errors.Is(deleted, repository.ErrNotFound) && errors.Is(deleted, repository.ErrHasChildren) && !parent:
				return fmt.Errorf("the delete was refused (%w), and the parent is gone", deleted)
			case created == nil && parent && !child:
				return fmt.Errorf("the child was created under a parent that is there, and is gone")
			case isDefinite(created) && child:
				return fmt.Errorf("the create was refused (%w), and the child is there", created)
			}
			if r.comments == parented.Restrict && dangling(seen) != nil && created != nil {
				return isReported(w, r) // a sweep decides nothing there
			}
			return dangling(seen)
		},
	}, lostNote("a"))
}

// isReported says that a sweep does not count the comment that has no parent.
func isReported(w *emulatortest.World, r rules) error {
	swept, err := branchOf(w, r).forest.Sweep(w.Context(), "acme", &parented.SweepOptions{MinAge: time.Nanosecond, Keep: true})
	if err == nil && swept["Comment"] != 1 {
		err = fmt.Errorf("a sweep counts %v", swept)
	}
	return err
}

// TestAMoveAndADeleteOfTheNewParent: a child that moves to a parent which is deleted at the same time is with its old parent, or it is gone with
// the new one; a move that was refused leaves it where it was.
func TestAMoveAndADeleteOfTheNewParent(t *testing.T) {
	t.Parallel()
	exploreTreeOf(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) { setupBranch(w, true) },
		Actors: []emulatortest.Actor{
			{Name: "mover", Do: func(w *emulatortest.World) error {
				err := branchOf(w, cascade()).comments.Move(w.Context(), "acme", "c", "b")
				emulatortest.State[answers](w).first = err
				return refused(err)
			}},
			{Name: "deleter", Do: func(w *emulatortest.World) error {
				err := branchOf(w, cascade()).notes.In("acme").Delete(w.Context(), "b", nil)
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
			moved, deleted := outcomeOf(w, "mover", told.first), outcomeOf(w, "deleter", told.second)
			_, target := seen["b"]
			parent, child := seen["c"]
			_, reply := seen["r"]
			switch {
			case child != reply:
				return fmt.Errorf("of a child and its own child one is there: %v", seen)
			case deleted == nil && target:
				return fmt.Errorf("the new parent was deleted, and is there")
			case !child && isDefinite(deleted):
				return fmt.Errorf("the child is gone, and the delete was refused: %w", deleted)
			case !child && target:
				return fmt.Errorf("the child is gone, and its new parent is there")
			case moved == nil && child && parent != "b":
				return fmt.Errorf("the child was moved, and is under %q", parent)
			case isDefinite(moved) && parent != "a":
				return fmt.Errorf("the move was refused (%w), and the child is under %q: %v", moved, parent, seen)
			}
			return dangling(seen)
		},
	}, lostNote("a"))
}

// TestAMoveBetweenTwoDeletes: a child that something below keeps moves from one parent to another while both are deleted. It is never left without a
// parent: one of the two deletes is refused, and the move's answer says where the child is.
func TestAMoveBetweenTwoDeletes(t *testing.T) {
	t.Parallel()
	r := rules{parented.Cascade, parented.Restrict}
	remove := func(id string, told func(a *threeAnswers) *error) func(w *emulatortest.World) error {
		return func(w *emulatortest.World) error {
			err := branchOf(w, r).notes.In("acme").Delete(w.Context(), id, nil)
			*told(emulatortest.State[threeAnswers](w)) = err
			return refused(err)
		}
	}
	exploreTreeOf(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) { setupBranch(w, true) },
		Actors: []emulatortest.Actor{
			{Name: "mover", Do: func(w *emulatortest.World) error {
				err := branchOf(w, r).comments.Move(w.Context(), "acme", "c", "b")
				emulatortest.State[threeAnswers](w).third = err
				return refused(err)
			}},
			{Name: "old", Do: remove("a", func(a *threeAnswers) *error { return &a.first })},
			{Name: "new", Do: remove("b", func(a *threeAnswers) *error { return &a.second })},
		},
		Then: mend(r),
		Check: func(w *emulatortest.World) error {
			seen, err := standing(w, r)
			if err != nil {
				return err
			}
			told := emulatortest.State[threeAnswers](w)
			before, after, moved := outcomeOf(w, "old", told.first), outcomeOf(w, "new", told.second), outcomeOf(w, "mover", told.third)
			switch parent := seen["c"]; {
			case seen["r"] != "c" || parent == "":
				return fmt.Errorf("what Restrict keeps is gone: %v", seen)
			case seen[parent] == "":
				return fmt.Errorf("the child is under %q, which is gone: %v (move: %w, deletes: %w, %w)", parent, seen, moved, before, after)
			case before == nil && seen["a"] != "", after == nil && seen["b"] != "":
				return fmt.Errorf("a note that was deleted is there: %v", seen)
			case isDefinite(before) && seen["a"] == "", isDefinite(after) && seen["b"] == "":
				return fmt.Errorf("a note is gone whose delete was refused (%w, %w): %v", before, after, seen)
			case moved == nil && parent != "b", isDefinite(moved) && parent != "a":
				return fmt.Errorf("the move returned %w, and the child is under %q", moved, parent)
			}
			return dangling(seen)
		},
	}, lostNote("a"))
}

// TestARefusedDeleteChangesNothing: where something deep below a document keeps it, a delete of the document leaves the whole tree, whatever
// becomes of its requests and though another process tries the same.
func TestARefusedDeleteChangesNothing(t *testing.T) {
	t.Parallel()
	r := rules{parented.Cascade, parented.Restrict}
	remove := func(w *emulatortest.World) error {
		err := branchOf(w, r).notes.In("acme").Delete(w.Context(), "a", nil)
		if err == nil {
			w.Error("a delete that has to be refused succeeded")
		}
		return refused(err)
	}
	exploreTreeOf(t, emulatortest.Scenario{
		Setup:  func(w *emulatortest.World) { setupBranch(w, true) },
		Actors: []emulatortest.Actor{{Name: "first", Do: remove}, {Name: "second", Do: remove}},
		Then:   mend(r),
		Check: func(w *emulatortest.World) error {
			seen, err := standing(w, r)
			if err == nil && (seen["a"] != "root" || seen["c"] != "a" || seen["r"] != "c") {
				err = fmt.Errorf("the tree is not whole: %v", seen)
			}
			return err
		},
	}, lostNote("a"))
}

// TestLateChildrenNeedNoSweep: a child that is created under a parent, or moves there, while that is deleted, is seen by one of the two processes: nothing
// is left for a sweep as long as none of them dies and replicas are not behind.
func TestLateChildrenNeedNoSweep(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *emulatortest.World, b branch) error{
		"create": func(w *emulatortest.World, b branch) error {
			return b.comments.UnderID("acme", "b").Create(w.Context(), &Comment{Body: "new"})
		},
		"move": func(w *emulatortest.World, b branch) error { return b.comments.Move(w.Context(), "acme", "c", "b") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) { setupBranch(w, false) },
				Actors: []emulatortest.Actor{
					{Name: "writer", Do: func(w *emulatortest.World) error { return refused(do(w, branchOf(w, cascade()))) }},
					{Name: "deleter", Do: func(w *emulatortest.World) error {
						return refused(branchOf(w, cascade()).notes.In("acme").Delete(w.Context(), "b", nil))
					}},
				},
				Then: func(w *emulatortest.World) {
					_, err := branchOf(w, cascade()).forest.Resume(w.Context())
					must(w, err)
				},
				Check: func(w *emulatortest.World) error {
					seen, err := standing(w, cascade())
					if err != nil {
						return err
					}
					return dangling(seen)
				},
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kindsOf("cut-after", "late-1", "suspended"), Sabotage: lostNote("a")})
		})
	}
}

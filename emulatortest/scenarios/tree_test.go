package scenarios_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

type Comment struct {
	parented.ParentedItem[Comment, Note]
	Body string `json:"body"`
	City string `json:"city"`
}

// tree is the notes and their comments as a process of its own sees them.
type tree struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
}

func treeOf(w *emulatortest.World) tree { return treeAt(w, nil) }

// treeAt is treeOf with another clock.
func treeAt(w *emulatortest.World, now func() time.Time) tree {
	container := containerOf(w, "main")
	tr := tree{forest: parented.NewForest(parented.ForestConfig{PageSize: 1, Now: now})}
	var err error
	tr.notes, err = repository.New[Note](container, repository.Config{})
	must(w, err)
	must(w, parented.Register(tr.forest, tr.notes, parented.Policy{Retain: 24 * time.Hour}))
	tr.comments, err = parented.New[Comment](tr.forest, tr.notes, container, parented.Config{Rule: parented.Cascade})
	must(w, err)
	return tr
}

const comments = 2

func setupTree(w *emulatortest.World) {
	ctx := w.Context()
	forever := int32(-1)
	createContainer(w, "main", azcosmos.ContainerProperties{DefaultTimeToLive: &forever}, []string{"/tenantId", "/entityType"}...)
	tr := treeOf(w)
	root := note("root", "root", 0)
	must(w, tr.notes.In("acme").Create(ctx, root))
	for i := range comments {
		must(w, tr.comments.Under(root).Create(ctx, &Comment{Body: fmt.Sprint("c", i)}))
	}
}

// The rule of a tree: a note that is there has all its comments, and one that is not has none.
func wholeOrGone(w *emulatortest.World) error {
	tr := treeOf(w)
	n, err := tr.comments.In("acme").Count(w.Context(), repository.All())
	if err != nil {
		return err
	}
	_, err = tr.notes.In("acme").Get(w.Context(), "root")
	switch {
	case err == nil && n != comments:
		return fmt.Errorf("the note is there, and of its %d comments %d are", comments, n)
	case errors.Is(err, repository.ErrNotFound) && n != 0:
		return fmt.Errorf("the note is gone, and %d of its comments are there", n)
	case err != nil && !errors.Is(err, repository.ErrNotFound):
		return err
	}
	return nil
}

func resume(w *emulatortest.World) {
	for range 3 { // a tree that others hold up is left to the next one
		if _, err := treeOf(w).forest.Resume(w.Context()); err == nil {
			return
		}
	}
}

// exploreTree is explore where each write that is forgotten is made again, by its own process or by Resume. What Check has to
// notice is a comment that does not come back with the tree.
func exploreTree(t *testing.T, s emulatortest.Scenario, kinds ...string) {
	t.Helper()
	faults := someKinds(t)
	if len(kinds) > 0 {
		faults = kindsOf(kinds...)
	}
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: faults, Sabotage: map[string]func(w *emulatortest.World){
		"a comment is lost": func(w *emulatortest.World) {
			tr := treeOf(w)
			comment, err := tr.comments.In("acme").First(w.Context(), repository.All())
			must(w, err)
			must(w, tr.comments.In("acme").Delete(w.Context(), comment.ID, nil))
		},
	}})
}

// TestADeleteAndARestoreLeaveAWholeTree: whoever deletes, restores and resumes at the same time, the tree is whole or gone.
func TestADeleteAndARestoreLeaveAWholeTree(t *testing.T) {
	t.Parallel()
	exploreTree(t, emulatortest.Scenario{
		Setup: setupTree,
		Actors: []emulatortest.Actor{
			{Name: "deleter", Do: func(w *emulatortest.World) error {
				return refusalIsFine(treeOf(w).notes.In("acme").Delete(w.Context(), "root", nil))
			}},
			{Name: "restorer", Do: func(w *emulatortest.World) error {
				return refusalIsFine(treeOf(w).notes.In("acme").Restore(w.Context(), "root"))
			}},
		},
		Then:  resume,
		Check: wholeOrGone,
	})
}

// TestASlowDeleteUndoesNoRestore: two processes work on one delete, and the faster one undoes it. Nothing that the slower
// one still has in hand hides a part of the tree again; the clock, which stands still in all of them, does not tell the deletes apart.
func TestASlowDeleteUndoesNoRestore(t *testing.T) {
	t.Parallel()
	standing := func(w *emulatortest.World) tree {
		return treeAt(w, func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) })
	}
	for name, work := range map[string]func(w *emulatortest.World, tr tree) error{
		"Delete": func(w *emulatortest.World, tr tree) error {
			return tr.notes.In("acme").Delete(w.Context(), "root", nil)
		},
		"Resume": func(w *emulatortest.World, tr tree) error {
			_, err := tr.forest.Resume(w.Context(), "acme")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exploreTree(t, emulatortest.Scenario{
				Setup: setupTree,
				Actors: []emulatortest.Actor{
					{Name: "slow", Do: func(w *emulatortest.World) error { return refusalIsFine(work(w, standing(w))) }},
					{Name: "fast", Do: func(w *emulatortest.World) error {
						tr := standing(w)
						if err := refusalIsFine(tr.notes.In("acme").Delete(w.Context(), "root", nil)); err != nil {
							return err
						}
						return refusalIsFine(tr.notes.In("acme").Restore(w.Context(), "root"))
					}},
				},
				Then:  resume,
				Check: wholeOrGone,
			}, "killed", "suspended", "late", "behind")
		})
	}
}

// TestATreeVerbIsTrue: a delete, restore or purge that failed definitely changed nothing, also not later, when another process resumes what was
// begun; one that succeeded is done whole.
func TestATreeVerbIsTrue(t *testing.T) {
	t.Parallel()
	softly := func(w *emulatortest.World) {
		setupBranch(w, true)
		must(w, branchOf(w, cascade()).notes.In("acme").Delete(w.Context(), "a", nil))
	}
	for _, v := range []struct {
		name          string
		setup         func(w *emulatortest.World)
		do            func(w *emulatortest.World) error
		before, after int // documents of the tree that are there
	}{
		{"Delete", func(w *emulatortest.World) { setupBranch(w, true) }, func(w *emulatortest.World) error {
			return branchOf(w, cascade()).notes.In("acme").Delete(w.Context(), "a", nil)
		}, 3, 0},
		{"Restore", softly, func(w *emulatortest.World) error {
			return branchOf(w, cascade()).notes.In("acme").Restore(w.Context(), "a")
		}, 0, 3},
		{"Purge", softly, func(w *emulatortest.World) error {
			return branchOf(w, cascade()).notes.In("acme").Purge(w.Context(), "a")
		}, 0, 0},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			var kinds []emulatortest.FaultKind
			if !inFull() {
				kinds = kindsOf("forbidden", "refused-after", "killed-after")
			}
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup:  v.setup,
				Actors: []emulatortest.Actor{{Name: "caller", Do: v.do}},
				Then:   mend(cascade()),
				Check: func(w *emulatortest.World) error {
					seen, err := standing(w, cascade())
					if err != nil {
						return err
					}
					there, told := 0, w.Outcome("caller")
					for _, id := range []string{"a", "c", "r"} {
						if _, ok := seen[id]; ok {
							there++
						}
					}
					switch {
					case there != v.before && there != v.after || seen["b"] != "root":
						return fmt.Errorf("%s returned %w, and left %v", v.name, told, seen)
					case told == nil && there != v.after, isDefinite(told) && there != v.before:
						return fmt.Errorf("%s returned %w, and of the tree %d documents are there", v.name, told, there)
					}
					// What was deleted softly can be brought back, and what was purged can't.
					if there == 0 && told == nil {
						err := branchOf(w, cascade()).notes.In("acme").Restore(w.Context(), "a")
						if purged := errors.Is(err, repository.ErrNotFound); purged != (v.name == "Purge") {
							return fmt.Errorf("after %s, a restore returned %w", v.name, err)
						}
					}
					return nil
				},
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: lostNote("b")})
		})
	}
}

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

// Reply is a child of a comment: the third level of a tree.
type Reply struct {
	parented.ParentedItem[Reply, Comment]
	Body string `json:"body"`
}

// branch is notes, comments and replies as a process of its own sees them.
type branch struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	replies  *parented.Repository[Reply, Comment]
	buckets  *parented.Buckets[string, Note]
}

// rules are those of a tree's two relations.
type rules struct{ comments, replies parented.Rule }

func cascade() rules { return rules{parented.Cascade, parented.Cascade} }

func branchOf(w *emulatortest.World, r rules) branch {
	container := containerOf(w, "main")
	b := branch{forest: parented.NewForest(parented.ForestConfig{PageSize: 10})}
	var err error
	b.notes, err = repository.New[Note](container, repository.Config{})
	must(w, err)
	soft := parented.Policy{Retain: 24 * time.Hour}
	must(w, parented.Register(b.forest, b.notes, soft))
	b.comments, err = parented.New[Comment](b.forest, b.notes, container, parented.Config{Rule: r.comments, Policy: soft})
	must(w, err)
	b.replies, err = parented.New[Reply](b.forest, b.comments.Items(), container, parented.Config{Rule: r.replies, Policy: soft})
	must(w, err)
	b.buckets, err = parented.NewBuckets[string](b.forest, b.notes, container, parented.BucketConfig{
		Config: parented.Config{Config: repository.Config{EntityType: "Entry"}, Rule: parented.Cascade}, Capacity: 2,
	})
	must(w, err)
	return b
}

// setupBranch leaves notes a and b; under a, comment c with reply r when asked.
func setupBranch(w *emulatortest.World, reply bool) {
	forever := int32(-1)
	createContainer(w, "main", azcosmos.ContainerProperties{DefaultTimeToLive: &forever}, []string{"/tenantId", "/entityType"}...)
	b := branchOf(w, cascade())
	a := note("a", "a", 0)
	must(w, b.notes.In("acme").Create(w.Context(), a))
	must(w, b.notes.In("acme").Create(w.Context(), note("b", "b", 0)))
	c := &Comment{Body: "c"}
	c.ID = "c"
	must(w, b.comments.Under(a).Create(w.Context(), c))
	if reply {
		r := &Reply{Body: "r"}
		r.ID = "r"
		must(w, b.replies.Under(c).Create(w.Context(), r))
	}
}

// mend is what a service does after any crash: resume what was begun, and sweep what came at the instant of a crash.
func mend(r rules) func(w *emulatortest.World) {
	return func(w *emulatortest.World) {
		b := branchOf(w, r)
		var err error
		for range 3 { // a tree that others hold up is left to the next one
			if _, err = b.forest.Resume(w.Context()); err == nil {
				break
			}
		}
		must(w, err)
		time.Sleep(2 * time.Minute)
		_, err = b.forest.Sweep(w.Context(), "acme", nil)
		must(w, err)
	}
}

// standing is the tree as readers see it: ids with their parents.
func standing(w *emulatortest.World, r rules) (map[string]string, error) {
	b := branchOf(w, r)
	seen := map[string]string{}
	for n, err := range b.notes.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		seen[n.ID] = "root"
	}
	for c, err := range b.comments.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		seen[c.ID] = string(c.ParentID)
	}
	for c, err := range b.replies.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		seen[c.ID] = string(c.ParentID)
	}
	return seen, nil
}

// dangling says which document stands without its parent; one that was orphaned has none.
func dangling(seen map[string]string) error {
	for id, parent := range seen {
		if _, there := seen[parent]; parent != "root" && parent != "" && !there {
			return fmt.Errorf("%s stands without its parent %s", id, parent)
		}
	}
	return nil
}

// isDefinite says whether an answer says that nothing was changed.
func isDefinite(err error) bool {
	return err != nil && !errors.Is(err, repository.ErrAmbiguous) && !errors.Is(err, emulatortest.ErrKilled)
}

// answers are what the actors of a run were told, where a refusal is no failure of the scenario.
type (
	answers      struct{ first, second error }
	threeAnswers struct{ first, second, third error }
)

// outcomeOf is what an actor was told, or that it was killed.
func outcomeOf(w *emulatortest.World, actor string, told error) error {
	if errors.Is(w.Outcome(actor), emulatortest.ErrKilled) {
		return emulatortest.ErrKilled
	}
	return told
}

// refused is refusalIsFine for verbs of trees.
func refused(err error) error {
	if errors.Is(err, repository.ErrDanglingRef) || errors.Is(err, repository.ErrHasChildren) {
		return nil
	}
	return refusalIsFine(err)
}

// someKinds are the faults for scenarios of many requests: all in full, and in go test those that a tree or a feed is most likely to break at.
func someKinds(t *testing.T) []emulatortest.FaultKind {
	t.Helper()
	if inFull() {
		return nil
	}
	return kindsOf("killed", "cut-after", "late-2", "suspended", "behind-2")
}

// exploreTreeOf explores a scenario of trees, in which writes that were forgotten are made again.
func exploreTreeOf(t *testing.T, s emulatortest.Scenario, sabotage map[string]func(w *emulatortest.World)) {
	t.Helper()
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: someKinds(t), Sabotage: sabotage})
}

// lostNote is a sabotage that every check of a tree has to notice: a note goes around the forest.
func lostNote(id string) map[string]func(w *emulatortest.World) {
	return map[string]func(w *emulatortest.World){"a note is removed around the forest": func(w *emulatortest.World) {
		must(w, notesOf(w).Delete(w.Context(), id, nil))
	}}
}

// TestACreateAndADeleteOfTheParent: a child that is created while its parent is deleted is there with its parent, gone with it, or, under
// Orphan, has none; and the creator's answer is true.
func TestACreateAndADeleteOfTheParent(t *testing.T) {
	t.Parallel()
	for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
		r := rules{rule, parented.Cascade}
		t.Run(rule.String(), func(t *testing.T) {
			t.Parallel()
			exploreTreeOf(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) { setupBranch(w, false) },
				Actors: []emulatortest.Actor{
					{Name: "creator", Do: func(w *emulatortest.World) error {
						c := &Comment{Body: "new"}
						c.ID = "new"
						err := branchOf(w, r).comments.UnderID("acme", "b").Create(w.Context(), c)
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
					return dangling(seen)
				},
			}, lostNote("a"))
		})
	}
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

// TestAppendsHappenOnce: what two processes append to the same buckets is there once for each success, not at all after a refusal, and the buckets
// count what they hold.
func TestAppendsHappenOnce(t *testing.T) {
	t.Parallel()
	actor := func(name string, told func(a *answers) *error) emulatortest.Actor {
		return emulatortest.Actor{Name: name, Do: func(w *emulatortest.World) error {
			_, err := branchOf(w, cascade()).buckets.UnderID("acme", "a").Append(w.Context(), name)
			*told(emulatortest.State[answers](w)) = err
			return err
		}}
	}
	explore(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupBranch(w, false)
			_, err := branchOf(w, cascade()).buckets.UnderID("acme", "a").Append(w.Context(), "oldest")
			must(w, err)
		},
		Actors: []emulatortest.Actor{
			actor("first", func(a *answers) *error { return &a.first }), actor("second", func(a *answers) *error { return &a.second }),
		},
		Check: func(w *emulatortest.World) error {
			entries := branchOf(w, cascade()).buckets.UnderID("acme", "a")
			times := map[string]int{}
			total := int64(0)
			for e, err := range entries.OldestFirst(w.Context()) {
				if err != nil {
					return err
				}
				times[e.Value]++
				total++
			}
			told := emulatortest.State[answers](w)
			for name, err := range map[string]error{"oldest": nil, "first": outcomeOf(w, "first", told.first), "second": outcomeOf(w, "second", told.second)} {
				if times[name] > 1 || err == nil && times[name] != 1 || isDefinite(err) && times[name] != 0 {
					return fmt.Errorf("the append of %s returned %w, and is there %d times", name, err, times[name])
				}
			}
			if n, err := entries.Count(w.Context()); err != nil || n != total {
				return fmt.Errorf("the buckets count %d (%w) and hold %d", n, err, total)
			}
			return nil
		},
	})
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

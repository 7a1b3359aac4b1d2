package scenarios_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

// creators are the ways in which a reply can come under comment c.
func creators() map[string]func(w *emulatortest.World, b branch, r *Reply) error {
	in := func(b branch) *repository.Scope[Reply] { return b.replies.In("acme") }
	return map[string]func(w *emulatortest.World, b branch, r *Reply) error{
		"Under, Create": func(w *emulatortest.World, b branch, r *Reply) error {
			return b.replies.UnderID("acme", "c").Create(w.Context(), r)
		},
		"In, Create": func(w *emulatortest.World, b branch, r *Reply) error { return in(b).Create(w.Context(), r) },
		"Save":       func(w *emulatortest.World, b branch, r *Reply) error { return in(b).Save(w.Context(), r) },
		"Upsert":     func(w *emulatortest.World, b branch, r *Reply) error { return in(b).Upsert(w.Context(), r) },
		"Batch, Create": func(w *emulatortest.World, b branch, r *Reply) error {
			return in(b).Batch().Create(r).Commit(w.Context())
		},
		"Batch, Upsert": func(w *emulatortest.World, b branch, r *Reply) error {
			return in(b).Batch().Upsert(r).Commit(w.Context())
		},
		"partition.Commit": func(w *emulatortest.World, b branch, r *Reply) error {
			return partition.Commit(w.Context(), in(b).Batch().Save(r))
		},
		"SaveAll": func(w *emulatortest.World, b branch, r *Reply) error {
			_, err := in(b).SaveAll(w.Context(), slices.Values([]*Reply{r}), nil)
			return err
		},
		"Move": func(w *emulatortest.World, b branch, _ *Reply) error {
			return b.replies.Move(w.Context(), "acme", "m", "c")
		},
		"Restore": func(w *emulatortest.World, b branch, _ *Reply) error { return in(b).Restore(w.Context(), "d") },
	}
}

// TestEveryCreatorLooksBeforeAndAfter: whatever verb brings a child under a parent, and whether the parent or what is above that is deleted meanwhile: the
// child is there with its parent, or goes with it, without a sweep, and the writer is told the truth.
func TestEveryCreatorLooksBeforeAndAfter(t *testing.T) {
	t.Parallel()
	kinds := kindsOf("suspended")
	if inFull() {
		kinds = kindsOf("cut-after", "late-1", "suspended")
	}
	for name, create := range creators() {
		id := map[string]string{"Move": "m", "Restore": "d"}[name]
		if id == "" {
			id = "new"
		}
		for _, deleted := range []string{"c", "a"} {
			t.Run(name+" during a delete of "+deleted, func(t *testing.T) {
				t.Parallel()
				r := cascade()
				emulatortest.Explore(t, emulatortest.Scenario{
					Setup: func(w *emulatortest.World) { setupReplies(w, id) },
					Actors: []emulatortest.Actor{
						{Name: "writer", Do: func(w *emulatortest.World) error {
							fresh := reply("new")
							fresh.ParentID = "c"
							err := create(w, branchOf(w, r), fresh)
							emulatortest.State[answers](w).first = err
							return refused(err)
						}},
						{Name: "deleter", Do: func(w *emulatortest.World) error {
							err := deleteOf(w, branchOf(w, r), deleted)
							emulatortest.State[answers](w).second = err
							return refused(err)
						}},
					},
					Then: func(w *emulatortest.World) {
						_, err := branchOf(w, r).forest.Resume(w.Context())
						must(w, err)
					},
					Check: func(w *emulatortest.World) error {
						seen, err := standing(w, r)
						if err != nil {
							return err
						}
						told := emulatortest.State[answers](w)
						written, gone := outcomeOf(w, "writer", told.first), outcomeOf(w, "deleter", told.second)
						_, parent := seen["c"]
						under := seen[id]
						switch {
						case seen["b"] != "root":
							return fmt.Errorf("another tree was changed: %v", seen)
						case gone == nil && seen[deleted] != "":
							return fmt.Errorf("%s was deleted, and is there: %v", deleted, seen)
						case written == nil && parent && under != "c":
							return fmt.Errorf("the child was written, its parent is there, and it is not: %v", seen)
						case isDefinite(written) && under == "c":
							return fmt.Errorf("the write was refused (%w), and the child is there: %v", written, seen)
						}
						return dangling(seen)
					},
				}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: lostNote("b")})
			})
		}
	}
}

func reply(id string) *Reply {
	r := &Reply{Body: "old"}
	r.ID = id
	return r
}

// setupReplies is setupBranch with reply r under c; a reply m under another comment, to be moved, or a reply d that was deleted, to be restored.
func setupReplies(w *emulatortest.World, id string) {
	setupBranch(w, true)
	b := branchOf(w, cascade())
	switch id {
	case "m":
		x := &Comment{Body: "x"}
		x.ID = "x"
		must(w, b.comments.UnderID("acme", "b").Create(w.Context(), x))
		must(w, b.replies.UnderID("acme", "x").Create(w.Context(), reply("m")))
	case "d":
		must(w, b.replies.UnderID("acme", "c").Create(w.Context(), reply("d")))
		must(w, b.replies.In("acme").Delete(w.Context(), "d", nil))
	}
}

// deleteOf deletes a document of the branch by its id.
func deleteOf(w *emulatortest.World, b branch, id string) error {
	switch id {
	case "r":
		return b.replies.In("acme").Delete(w.Context(), id, nil)
	case "c":
		return b.comments.In("acme").Delete(w.Context(), id, nil)
	}
	return b.notes.In("acme").Delete(w.Context(), id, nil)
}

// TestAReplaceWhileADeleteRuns: a child is replaced while it, its parent, or what is above that is deleted softly. A delete that succeeded holds, also when the replace came
// after it; what is restored then has what the replace wrote if that succeeded, and what was there before if it was refused.
func TestAReplaceWhileADeleteRuns(t *testing.T) {
	t.Parallel()
	for _, deleted := range []string{"r", "c", "a"} {
		t.Run("of "+deleted, func(t *testing.T) {
			t.Parallel()
			exploreTreeOf(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) { setupBranch(w, true) },
				Actors: []emulatortest.Actor{
					{Name: "writer", Do: func(w *emulatortest.World) error {
						replies := branchOf(w, cascade()).replies.In("acme")
						r, err := replies.Get(w.Context(), "r")
						if err == nil {
							r.Body = "new"
							err = replies.Replace(w.Context(), r)
						}
						emulatortest.State[answers](w).first = err
						return refused(err)
					}},
					{Name: "deleter", Do: func(w *emulatortest.World) error {
						err := deleteOf(w, branchOf(w, cascade()), deleted)
						emulatortest.State[answers](w).second = err
						return refused(err)
					}},
				},
				Then:  mend(cascade()),
				Check: func(w *emulatortest.World) error { return replacedOrGone(w, deleted) },
			}, lostNote("b"))
		})
	}
}

func replacedOrGone(w *emulatortest.World, deleted string) error {
	b := branchOf(w, cascade())
	seen, err := standing(w, cascade())
	if err != nil {
		return err
	}
	told := emulatortest.State[answers](w)
	written, gone := outcomeOf(w, "writer", told.first), outcomeOf(w, "deleter", told.second)
	switch _, there := seen["r"]; {
	case seen["b"] == "":
		return fmt.Errorf("another tree was changed: %v", seen)
	case gone == nil && (there || seen[deleted] != ""):
		return fmt.Errorf("%s was deleted, and of its tree is there: %v (the replace returned %w)", deleted, seen, written)
	case isDefinite(gone) && !there:
		return fmt.Errorf("the delete was refused (%w), and the child is gone: %v", gone, seen)
	}
	if err := dangling(seen); err != nil {
		return err
	}
	if seen[deleted] == "" {
		switch deleted {
		case "r":
			err = b.replies.In("acme").Restore(w.Context(), deleted)
		case "c":
			err = b.comments.In("acme").Restore(w.Context(), deleted)
		default:
			err = b.notes.In("acme").Restore(w.Context(), deleted)
		}
		if err != nil {
			return fmt.Errorf("the restore of %s: %w", deleted, err)
		}
	}
	r, err := b.replies.In("acme").Get(w.Context(), "r")
	switch {
	case errors.Is(err, repository.ErrNotFound):
		return fmt.Errorf("the child did not come back with %s", deleted)
	case err != nil:
		return err
	case written == nil && r.Body != "new", isDefinite(written) && r.Body != "r":
		return fmt.Errorf("the replace returned %w, and the body is %q", written, r.Body)
	}
	return nil
}

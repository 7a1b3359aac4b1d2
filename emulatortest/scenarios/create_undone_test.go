package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// creatorsOfMore write more than the reply that they are given: another one under a parent that stays, or a patch.
func creatorsOfMore() map[string]func(w *emulatortest.World, b branch, r *Reply) error {
	other := func() *Reply {
		r := reply("other")
		r.ParentID = "x"
		return r
	}
	return map[string]func(w *emulatortest.World, b branch, r *Reply) error{
		"Batch of two parents": func(w *emulatortest.World, b branch, r *Reply) error {
			return b.replies.In("acme").Batch().Create(r).Create(other()).Commit(w.Context())
		},
		"Batch and a patch": func(w *emulatortest.World, b branch, r *Reply) error {
			return b.replies.In("acme").Batch().Create(r).Patch("m", repository.Edits{}.Set("/body", "new")).Commit(w.Context())
		},
		"SaveAll of two parents": func(w *emulatortest.World, b branch, r *Reply) error {
			receipt, err := b.replies.In("acme").SaveAll(w.Context(), slices.Values([]*Reply{r, other()}), nil)
			if err == nil || len(receipt.Items) == 0 {
				return err
			}
			return receipt.Items[0].Err // the items of a bulk have each its own fate
		},
	}
}

// TestACreateDuringADeleteThatIsUndone: a child is created while its parent, or what is above that, is deleted, and in the end the delete is undone. A create that
// succeeded is there then, and of one that was refused is nothing there, whatever else was written with it.
func TestACreateDuringADeleteThatIsUndone(t *testing.T) {
	t.Parallel()
	verbs := creators()
	for name, create := range creatorsOfMore() {
		verbs[name] = create
	}
	delete(verbs, "Restore") // whose parent can't be deleted by itself
	kinds := kindsOf("suspended")
	if inFull() {
		kinds = kindsOf("cut-after", "late-1", "suspended")
	}
	for name, create := range verbs {
		id := "new"
		if name == "Move" {
			id = "m"
		}
		bulk := strings.HasPrefix(name, "SaveAll")
		for _, deleted := range []string{"c", "a"} {
			t.Run(name+" during a delete of "+deleted, func(t *testing.T) {
				t.Parallel()
				r := cascade()
				emulatortest.Explore(t, emulatortest.Scenario{
					Setup: func(w *emulatortest.World) { setupReplies(w, "m") },
					Actors: []emulatortest.Actor{
						{Name: "writer", Do: func(w *emulatortest.World) error {
							fresh := reply("new")
							fresh.ParentID = "c"
							err := create(w, branchOf(w, r), fresh)
							emulatortest.State[answers](w).first = err
							return refused(err)
						}},
						{Name: "deleter", Do: func(w *emulatortest.World) error { return refused(deleteOf(w, branchOf(w, r), deleted)) }},
					},
					Then: func(w *emulatortest.World) {
						b := branchOf(w, r)
						_, err := b.forest.Resume(w.Context())
						must(w, err)
						must(w, refused(restoreOf(w, b, deleted)))
					},
					Check: func(w *emulatortest.World) error {
						seen, err := standing(w, r)
						if err != nil {
							return err
						}
						m, err := branchOf(w, r).replies.In("acme").Get(w.Context(), "m")
						if err != nil {
							return err
						}
						patched := m.Body == "new"
						_, other := seen["other"]
						written := outcomeOf(w, "writer", emulatortest.State[answers](w).first)
						switch {
						case seen["c"] != "a" || seen["r"] != "c" || seen["x"] != "b":
							return fmt.Errorf("the trees are not whole: %v", seen)
						case written == nil && seen[id] != "c":
							return fmt.Errorf("the child was written, and is not there: %v", seen)
						case isDefinite(written) && (seen[id] == "c" || other && !bulk || patched):
							return fmt.Errorf("the write was refused (%w), and there is %v, patched: %v", written, seen, patched)
						}
						return dangling(seen)
					},
				}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: lostNote("b")})
			})
		}
	}
}

// restoreOf restores a document of the branch by its id.
func restoreOf(w *emulatortest.World, b branch, id string) error {
	switch id {
	case "r":
		return b.replies.In("acme").Restore(w.Context(), id)
	case "c":
		return b.comments.In("acme").Restore(w.Context(), id)
	}
	return b.notes.In("acme").Restore(w.Context(), id)
}

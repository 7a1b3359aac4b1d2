package scenarios_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
)

// TestAnErasureWhileAKeeperFollows: a tenant that is erased while a keeper follows its changes stays erased: the keeper, and another one that goes on where it
// died, write nothing back.
func TestAnErasureWhileAKeeperFollows(t *testing.T) {
	t.Parallel()
	for layout, key := range layouts() {
		if !inFull() && key != nil {
			continue
		}
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			erase := func(w *emulatortest.World) error {
				_, err := workOf(w, key).db.Tenants().Erase(w.Context(), "acme", nil)
				return err
			}
			count := func(w *emulatortest.World) int64 {
				stats, err := workOf(w, key).db.Tenants().Stats(w.Context(), "acme", nil)
				must(w, err)
				return stats.Documents
			}
			emulatortest.Explore(t, emulatortest.Scenario{
				Setup: func(w *emulatortest.World) {
					setupWork(w, key)
					a := workOf(w, key)
					must(w, workChanges()[0].do(w.Context(), a))
					must(w, workChanges()[3].do(w.Context(), a))
					must(w, workChanges()[4].do(w.Context(), a))
				},
				Actors: []emulatortest.Actor{
					{Name: "keeper", Do: func(w *emulatortest.World) error { return workOf(w, key).keeper.CatchUp(w.Context()) }},
					{Name: "eraser", Do: erase},
				},
				Then: func(w *emulatortest.World) {
					if w.Outcome("eraser") != nil {
						must(w, erase(w))
					}
					if emulatortest.State[lateWriter](w).writes {
						late := task("late")
						late.PersonID = ""
						must(w, workOf(w, key).tasks.Create(w.Context(), late))
					}
					follow(key)(w)
				},
				Check: func(w *emulatortest.World) error {
					if n := count(w); n != 0 {
						return fmt.Errorf("%d documents of the erased tenant are there", n)
					}
					return nil
				},
			}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: eraseKinds(), Sabotage: map[string]func(w *emulatortest.World){"a late writer": func(w *emulatortest.World) {
				emulatortest.State[lateWriter](w).writes = true
			}}})
		})
	}
}

// lateWriter is a sabotage: something writes when the tenant is erased.
type lateWriter struct{ writes bool }

func eraseKinds() []emulatortest.FaultKind {
	if inFull() {
		return nil
	}
	return kindsOf("killed-after", "late-2")
}

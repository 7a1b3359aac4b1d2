package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
)

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

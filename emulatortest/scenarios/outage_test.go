package scenarios_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// beforeTheOutage is how many requests a keeper makes that are the same each time.
const beforeTheOutage = 12

// TestTheKeeperWaitsAnOutageOut: while the writes of a keeper time out, for longer than a change that can't be handled is tried, the keeper stands still;
// it puts no change into quarantine, and follows them all when the outage is over, though it is killed meanwhile.
func TestTheKeeperWaitsAnOutageOut(t *testing.T) {
	t.Parallel()
	key := []string(nil)
	const outage = 60 // writes that time out
	kinds := kindsOf("killed", "behind-2")
	for i := range kinds { // what follows the first write depends on how long the keeper waits, which is by chance
		fits := kinds[i].Fits
		kinds[i].Fits = func(r emulatortest.Request) bool { return r.N <= beforeTheOutage && (fits == nil || fits(r)) }
	}
	emulatortest.Explore(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupWork(w, key)
			_, err := workOf(w, key).persons.Mutate(w.Context(), "p", func(p *Person) error { p.Name = "new p"; return nil })
			must(w, err)
		},
		Actors: []emulatortest.Actor{{Name: "keeper", Do: func(w *emulatortest.World) error {
			w.Emulator().Fault(emulator.Answer(http.StatusRequestTimeout, 0).Client("keeper").Container(registry.DefaultContainer).
				On(emulator.PatchItem, emulator.ReplaceItem, emulator.TransactionalBatch).Times(outage))
			return workOf(w, key).keeper.CatchUp(w.Context())
		}}},
		Then: follow(key),
		Check: func(w *emulatortest.World) error {
			a := workOf(w, key)
			feed, ok := a.keeper.Processor(registry.DefaultContainer)
			if !ok {
				return fmt.Errorf("nobody follows %s", registry.DefaultContainer)
			}
			for q, err := range feed.Quarantined(w.Context()) {
				if err != nil {
					return err
				}
				return fmt.Errorf("a change of %s is in quarantine", q.DocumentID)
			}
			return driftOf(w, a)
		},
	}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: map[string]func(w *emulatortest.World){
		"a copy is spoilt after it was followed": func(w *emulatortest.World) {
			a := workOf(w, key)
			must(w, a.keeper.CatchUp(w.Context()))
			_, err := a.tasks.Patch(w.Context(), "t1", repository.Set("/assignee", "nobody"))
			must(w, err)
		},
	}})
}

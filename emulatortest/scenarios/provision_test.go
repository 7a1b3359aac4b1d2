package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// TestTwoProcessesProvision: two processes that start at the same time on an empty account, one of which may die or be cut off at any request, make what
// the plan asks for, once; one that says that it is ready is, and one that starts later finds it as the plan wants it.
func TestTwoProcessesProvision(t *testing.T) {
	t.Parallel()
	key := layouts()["in one transaction"]
	provision := func(w *emulatortest.World) error {
		plan, _ := planOf(w, key, "instance-"+w.Actor())
		_, err := registry.Provision(w.Context(), w.Client(repository.ClientOptions(nil)), plan)
		return err
	}
	exploreFeed(t, emulatortest.Scenario{
		Actors: []emulatortest.Actor{{Name: "first", Do: provision}, {Name: "second", Do: provision}},
		Check: func(w *emulatortest.World) error {
			plan, _ := planOf(w, key, "instance-last")
			ready := w.Outcome("first") == nil || w.Outcome("second") == nil
			if !ready {
				if _, err := registry.Provision(w.Context(), w.Client(nil), plan); err != nil {
					return fmt.Errorf("a third process can't start: %w", err)
				}
			}
			different, err := registry.Check(w.Context(), w.Client(nil), plan)
			if err != nil || len(different) != 0 {
				return fmt.Errorf("one process was ready, and there is a difference: %v, %w", different, err)
			}
			return nil
		},
	}, map[string]func(w *emulatortest.World){"a container has another key": func(w *emulatortest.World) {
		client := w.Client(nil)
		plan, _ := planOf(w, nil, "instance-other")
		_, err := registry.Provision(w.Context(), client, plan)
		must(w, err)
		db, err := client.NewDatabase("work")
		must(w, err)
		createIn(w, db, azcosmos.ContainerProperties{}, "shared", "/other")
	}}, "killed", "cut-after", "late-2")
}

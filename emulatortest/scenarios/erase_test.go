package scenarios_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// rented is an application of several tenants, as a process of its own sees it: notes and lines, in two containers.
type rented struct {
	db    *registry.Database
	notes *repository.Repository[Note]
	lines *repository.Repository[Line]
}

func rentedOf(w *emulatortest.World) rented {
	plan, err := registry.NewPlan(registry.Config{
		Database: "rented", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: "lines", PartitionKey: []string{"/tenantId", "/section"}}},
	}, []registry.Declaration{registry.EntityOf[Note](registry.SoftDelete(24 * time.Hour)), registry.EntityOf[Line](registry.In("lines"))})
	must(w, err)
	r := rented{}
	r.db, err = registry.Open(w.Client(repository.ClientOptions(nil)), plan)
	must(w, err)
	r.notes, err = registry.RepositoryOf[Note](r.db)
	must(w, err)
	r.lines, err = registry.RepositoryOf[Line](r.db)
	must(w, err)
	return r
}

// setupTenants leaves two tenants with four documents each, one of them deleted softly.
func setupTenants(w *emulatortest.World) {
	r := rentedOf(w)
	must(w, r.db.Prepare(w.Context()))
	for _, tenant := range []string{"acme", "globex"} {
		for _, id := range []string{"a", "b", "gone"} {
			must(w, r.notes.In(tenant).Create(w.Context(), note(id, "old", 1)))
		}
		must(w, r.notes.In(tenant).Delete(w.Context(), "gone", nil))
		must(w, r.lines.In(tenant, "s0").Create(w.Context(), line(0, 10)))
	}
}

// erasing is what the processes of a run keep outside of themselves.
type erasing struct {
	first, second *registry.Erasure
	err           error
	left          []string // when the first erasure had ended
	created       int      // documents that the writer may have stored
	behind        bool     // sabotage: something is written behind the last look
}

// idsOf are the documents of a tenant, deleted ones too, by type and id.
func idsOf(w *emulatortest.World, tenant string) []string {
	var ids []string
	_, err := rentedOf(w).db.Tenants().PlanErase(w.Context(), tenant, func(d registry.ErasedDocument) bool {
		ids = append(ids, d.EntityType+" "+d.ID)
		return false
	})
	must(w, err)
	slices.Sort(ids)
	return ids
}

// TestAnErasureWhileAnotherWrites: a tenant is erased, by a process that may die anywhere, while another one creates, changes and deletes documents of it.
// What was there when a complete erasure began is gone, whatever the writer did to it; a second erasure leaves nothing; its certificates are
// true, and count nothing twice; the other tenant has all it had.
func TestAnErasureWhileAnotherWrites(t *testing.T) {
	t.Parallel()
	kinds := emulatortest.FaultKinds()
	if !inFull() {
		kinds = kindsOf("killed", "cut-after", "late-2")
	}
	emulatortest.Explore(t, emulatortest.Scenario{
		Setup: setupTenants,
		Actors: []emulatortest.Actor{
			{Name: "eraser", Do: func(w *emulatortest.World) error {
				run := emulatortest.State[erasing](w)
				var err error
				run.first, err = rentedOf(w).db.Tenants().Erase(w.Context(), "acme", nil)
				return err
			}},
			{Name: "writer", Do: func(w *emulatortest.World) error {
				r, run := rentedOf(w), emulatortest.State[erasing](w)
				notes := r.notes.In("acme")
				run.created++
				if err := refusalIsFine(notes.Create(w.Context(), note("late", "new", 1))); err != nil {
					return err
				}
				_, err := notes.Mutate(w.Context(), "a", func(n *Note) error { n.Count++; return nil })
				if err := refusalIsFine(err); err != nil {
					return err
				}
				if err := refusalIsFine(notes.Delete(w.Context(), "b", nil)); err != nil {
					return err
				}
				run.created++
				return refusalIsFine(r.lines.In("acme", "s1").Create(w.Context(), line(1, 10)))
			}},
		},
		Then: func(w *emulatortest.World) {
			run := emulatortest.State[erasing](w)
			run.left = idsOf(w, "acme")
			r := rentedOf(w)
			run.second, run.err = r.db.Tenants().Erase(w.Context(), "acme", nil)
			if run.behind {
				must(w, r.notes.In("acme").Create(w.Context(), note("behind", "new", 1)))
			}
		},
		Check: func(w *emulatortest.World) error {
			run := emulatortest.State[erasing](w)
			if run.err != nil || !run.second.Complete || !run.second.Verify() {
				return fmt.Errorf("the second erasure: %w", run.err)
			}
			removed := 0
			if first := run.first; first != nil {
				if first.Complete != (w.Outcome("eraser") == nil) || !first.Verify() {
					return fmt.Errorf("complete %t after %w", first.Complete, w.Outcome("eraser"))
				}
				for _, id := range []string{"Line l0", "Note a", "Note b", "Note gone"} {
					if first.Complete && slices.Contains(run.left, id) {
						return fmt.Errorf("%s was there before, and is there after a complete erasure", id)
					}
				}
				removed += sum(first.Removed)
			}
			if removed += sum(run.second.Removed); removed > 4+run.created {
				return fmt.Errorf("%d documents are said to be removed, of %d", removed, 4+run.created)
			}
			stats, err := rentedOf(w).db.Tenants().Stats(w.Context(), "acme", nil)
			if err != nil || stats.Documents != 0 || len(stats.EntityTypes) != 0 {
				return fmt.Errorf("an erased tenant has %+v, %w", stats, err)
			}
			if others := idsOf(w, "globex"); !slices.Equal(others, []string{"Line l0", "Note a", "Note b", "Note gone"}) {
				return fmt.Errorf("the other tenant has %v", others)
			}
			return nil
		},
	}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: map[string]func(w *emulatortest.World){
		"a document is written behind the last look": func(w *emulatortest.World) { emulatortest.State[erasing](w).behind = true },
		"a document of the other tenant is removed": func(w *emulatortest.World) {
			must(w, rentedOf(w).notes.In("globex").Purge(w.Context(), "gone"))
		},
	}})
}

func sum(counts map[string]int64) int {
	n := 0
	for c := range maps.Values(counts) {
		n += int(c)
	}
	return n
}

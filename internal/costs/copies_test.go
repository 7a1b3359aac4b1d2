package costs

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

func values[T any](all []T) iter.Seq[T] { return slices.Values(all) }

// copies are the rows of what package denorm does.
// A keeper lists its leases by the clock, which stands still here while
// anything is under way.
func copies(t *testing.T) (rows []row) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { rows = countCopies(t) })
	synctest.Test(t, func(t *testing.T) { rows = append(rows, countAudits(t)...) })
	return rows
}

func countCopies(t *testing.T) []row {
	t.Helper()
	ctx := t.Context()
	a := open(t, 1)
	ada, bob := a.person("Ada"), a.person("Bob")
	task := &Task{Title: "a task", AssigneeID: ada.Ref()}
	rows := []row{
		a.count("create a document with a copy", bound{requests: 2, why: "the source lies in another logical partition, and a copy is right from the start. A source that this process wrote is read too, since another may have changed it"}, func() error { return a.tasks.Create(ctx, task) }),
		a.count("replace it with another title", bound{requests: 2, why: "a source that changed meanwhile must not be overwritten by what the caller holds"}, func() error { task.Title = "another"; return a.tasks.Save(ctx, task) }),
		a.count("replace it with another reference", bound{requests: 2, why: "the new source is read"}, func() error { task.AssigneeID = bob.Ref(); return a.tasks.Save(ctx, task) }),
		a.count("upsert it", bound{requests: 2, why: "as a replace: the source is read"}, func() error { return a.tasks.Upsert(ctx, task) }),
	}
	a.must(saveTasks(t, a, 500, ada))
	a.must(a.keeper.CatchUp(ctx))
	_, err := a.persons.Mutate(ctx, ada.ID, func(p *Person) error { p.Name = "Countess"; return nil })
	a.must(err)
	return append(rows,
		a.count("follow a rename into 500 copies, and see them come back", bound{requests: 18, why: "7 for the rename itself: one query, one read of the source, a batch for every hundred. The rest is the feed: what was patched comes back and is compared, with one read of the source for each page, since a writer around Grove may have changed it just before. Not counted, since it depends on which goroutine is first: about 17 requests for the leases and positions, and 3 reads that find nothing new"}, func() error {
			return errors.Join(a.keeper.CatchUp(ctx), a.keeper.CatchUp(ctx))
		}, waitsOrKeepsPlace),
	)
}

// leases is the container of a keeper's leases by default.
const leases = "grove-leases"

// waitsOrKeepsPlace is whether a request is about the leases of the feed, or
// found nothing new in it.
func waitsOrKeepsPlace(x emulator.Exchange) bool {
	return x.Container == leases || x.Operation == emulator.ChangeFeed && x.Status == http.StatusNotModified
}

// countAudits are the rows of audit and repair.
func countAudits(t *testing.T) []row {
	t.Helper()
	ctx := t.Context()
	const documents = 10_000
	a := open(t, 1)
	ada := a.person("Ada")
	a.must(saveTasks(t, a, documents, ada))
	_, err := a.persons.Mutate(ctx, ada.ID, func(p *Person) error { p.Name = "Countess"; return nil })
	a.must(err)
	return []row{
		a.count("audit 10,000 documents, all of them stale", bound{requests: 20, why: "a page of 1,000 documents, and the source for each page, since it may change during the audit"}, func() error {
			found := 0
			for _, err := range a.keeper.Audit(ctx, tenant) {
				if err != nil {
					return err
				}
				found++
			}
			if found != documents {
				return fmt.Errorf("%d of %d found", found, documents)
			}
			return nil
		}),
		a.count("repair them", bound{requests: 120, why: "that, and a batch for every hundred"}, func() error { _, err := a.keeper.Repair(ctx, tenant, nil); return err }),
		a.count("repair 10,000 that are right", bound{requests: 20, why: "as an audit"}, func() error { _, err := a.keeper.Repair(ctx, tenant, nil); return err }),
	}
}

func saveTasks(t *testing.T, a *account, n int, assignee *Person) error {
	t.Helper()
	tasks := make([]*Task, n)
	for i := range tasks {
		tasks[i] = &Task{Title: fmt.Sprintf("task %05d", i), AssigneeID: assignee.Ref()}
	}
	_, err := a.tasks.SaveAll(t.Context(), values(tasks), &repository.BulkOptions{})
	return err
}

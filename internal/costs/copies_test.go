package costs

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

func values[T any](all []T) iter.Seq[T] { return slices.Values(all) }

// copies are the rows of what package denorm does.
func copies(t *testing.T) []row {
	t.Helper()
	ctx := t.Context()
	a := open(t, 1)
	ada, bob := a.person("Ada"), a.person("Bob")
	task := &Task{Title: "a task", AssigneeID: ada.Ref()}
	rows := []row{
		a.count("create a document with a copy", "", func() error { return a.tasks.Create(ctx, task) }),
		a.count("replace it with another title", "", func() error { task.Title = "another"; return a.tasks.Save(ctx, task) }),
		a.count("replace it with another reference", "", func() error { task.AssigneeID = bob.Ref(); return a.tasks.Save(ctx, task) }),
	}
	a.must(saveTasks(t, a, 500, ada))
	a.must(a.keeper.CatchUp(ctx))
	_, err := a.persons.Mutate(ctx, ada.ID, func(p *Person) error { p.Name = "Countess"; return nil })
	a.must(err)
	rows = append(rows,
		a.count("follow a rename into 500 copies, feed and leases included", "", func() error { return a.keeper.CatchUp(ctx) }),
		a.count("follow nothing", "", func() error { return a.keeper.CatchUp(ctx) }),
	)
	return append(rows, audits(t)...)
}

// audits are the rows of audit and repair.
func audits(t *testing.T) []row {
	t.Helper()
	ctx := t.Context()
	const documents = 10_000
	a := open(t, 1)
	ada := a.person("Ada")
	a.must(saveTasks(t, a, documents, ada))
	_, err := a.persons.Mutate(ctx, ada.ID, func(p *Person) error { p.Name = "Countess"; return nil })
	a.must(err)
	return []row{
		a.count("audit 10,000 documents, all of them stale", "", func() error {
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
		a.count("repair them", "", func() error { _, err := a.keeper.Repair(ctx, tenant, nil); return err }),
		a.count("repair 10,000 that are right", "", func() error { _, err := a.keeper.Repair(ctx, tenant, nil); return err }),
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

package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Person struct {
	tenantitem.TenantItem[Person]
	Name      string     `json:"name"`
	Age       int        `json:"age"`
	TaskCount int        `json:"taskCount"`
	LastTasks []TaskCard `json:"lastTasks"`
}

type TaskCard struct {
	ID    tenantitem.Ref[Task] `json:"id"`
	Title string               `json:"title"`
}

type Task struct {
	tenantitem.TenantItem[Task]
	Title    string                  `json:"title"`
	PersonID tenantitem.Ref[Person]  `json:"personId"`
	Assignee string                  `json:"assignee" denorm:"sync,ref=personId,field=name"`
	AgeThen  int                     `json:"ageThen" denorm:"snapshot,ref=personId,field=age"`
	Labels   []tenantitem.Ref[Label] `json:"labels"`
}

type Label struct {
	tenantitem.TenantItem[Label]
	Tasks []tenantitem.Ref[Task] `json:"tasks"`
}

// work is an application with copies as one process sees it.
type work struct {
	db      *registry.Database
	keeper  *denorm.Keeper
	persons *repository.Scope[Person]
	tasks   *repository.Scope[Task]
	labels  *repository.Scope[Label]
}

// layouts are partition keys: one under which copies follow through the feed, and one under which all lies in one logical partition, so that
// counts, lists and links change in the transaction of the write.
func layouts() map[string][]string {
	return map[string][]string{"through the feed": nil, "in one transaction": {"/tenantId"}}
}

func planOf(t testing.TB, key []string, name string) (*registry.Plan, *denorm.Copies) {
	t.Helper()
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{Instance: name, BalanceInterval: time.Second, LeaseDuration: 30 * time.Second}},
		denorm.CountOf[Person, Task]("taskCount", "personId"),
		denorm.RecentOf[Person, Task]("lastTasks", 2, "personId"),
		denorm.LinkOf[Task, Label]("labels", "tasks"))
	cfg := registry.Config{Database: "work", Provision: true, Logger: slog.New(slog.DiscardHandler)}
	var in []registry.Option
	if key != nil {
		cfg.Containers = []registry.Container{{ID: "shared", PartitionKey: key}}
		in = append(in, registry.In("shared"))
	}
	plan, err := registry.NewPlan(cfg, []registry.Declaration{
		registry.EntityOf[Person](in...), registry.EntityOf[Task](in...), registry.EntityOf[Label](in...),
	}, copies.Extension())
	must(t, err)
	return plan, copies
}

func workOf(w *emulatortest.World, key []string) work {
	plan, copies := planOf(w, key, "instance-"+w.Actor())
	var a work
	var err error
	a.db, err = registry.Open(w.Client(repository.ClientOptions(nil)), plan)
	must(w, err)
	a.keeper, err = copies.Keeper()
	must(w, err)
	persons, err := registry.RepositoryOf[Person](a.db)
	must(w, err)
	tasks, err := registry.RepositoryOf[Task](a.db)
	must(w, err)
	labels, err := registry.RepositoryOf[Label](a.db)
	must(w, err)
	a.persons, a.tasks, a.labels = persons.In("acme"), tasks.In("acme"), labels.In("acme")
	return a
}

// setupWork leaves persons p and q, tasks t1 and t2 of p, a label, and nothing to be followed.
func setupWork(w *emulatortest.World, key []string) {
	a := workOf(w, key)
	ctx := w.Context()
	must(w, a.db.Prepare(ctx))
	for _, id := range []string{"p", "q"} {
		p := &Person{Name: "old " + id, Age: 30}
		p.ID = id
		must(w, a.persons.Create(ctx, p))
	}
	l := &Label{}
	l.ID = "l"
	must(w, a.labels.Create(ctx, l))
	for _, id := range []string{"t1", "t2"} {
		must(w, a.tasks.Create(ctx, task(id)))
	}
	must(w, a.keeper.CatchUp(ctx))
}

func task(id string) *Task {
	t := &Task{Title: id, PersonID: "p"}
	t.ID = id
	return t
}

// workChange is a write that copies depend on; done says whether it is there.
type workChange struct {
	name string
	do   func(ctx context.Context, a work) error
	done func(ctx context.Context, a work) (bool, error)
}

func workChanges() []workChange {
	taskIs := func(id string, holds func(t *Task) bool) func(ctx context.Context, a work) (bool, error) {
		return func(ctx context.Context, a work) (bool, error) {
			t, err := a.tasks.Get(ctx, id)
			if errors.Is(err, repository.ErrNotFound) {
				return holds(nil), nil
			}
			return err == nil && holds(t), err
		}
	}
	return []workChange{
		{"rename", func(ctx context.Context, a work) error {
			_, err := a.persons.Mutate(ctx, "p", func(p *Person) error { p.Name, p.Age = "new p", 31; return nil })
			return err
		}, func(ctx context.Context, a work) (bool, error) {
			p, err := a.persons.Get(ctx, "p")
			return err == nil && p.Name == "new p", err
		}},
		{"create", func(ctx context.Context, a work) error { return a.tasks.Create(ctx, task("t3")) },
			taskIs("t3", func(t *Task) bool { return t != nil })},
		{"delete", func(ctx context.Context, a work) error { return a.tasks.Delete(ctx, "t2", nil) },
			taskIs("t2", func(t *Task) bool { return t == nil })},
		{"reassign", func(ctx context.Context, a work) error {
			_, err := a.tasks.Mutate(ctx, "t1", func(t *Task) error { t.PersonID = "q"; return nil })
			return err
		}, taskIs("t1", func(t *Task) bool { return t.PersonID == "q" })},
		{"link", func(ctx context.Context, a work) error {
			_, err := a.tasks.Mutate(ctx, "t1", func(t *Task) error { t.Labels = []tenantitem.Ref[Label]{"l"}; return nil })
			return err
		}, taskIs("t1", func(t *Task) bool { return len(t.Labels) == 1 })},
	}
}

// follow lets the leases of dead processes run out, and catches up.
func follow(key []string) func(w *emulatortest.World) {
	return func(w *emulatortest.World) {
		time.Sleep(2 * time.Minute)
		must(w, workOf(w, key).keeper.CatchUp(w.Context()))
	}
}

// driftOf is the first copy that does not hold what its source says.
func driftOf(w *emulatortest.World, a work) error {
	for d, err := range a.keeper.Audit(w.Context(), "acme") {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s %s holds at %s %s, and should hold %s", d.EntityType, d.ID, d.Pointer, d.Have, d.Want)
	}
	return nil
}

// checkSnapshots wants the age at which tasks were assigned.
func checkSnapshots(w *emulatortest.World, a work) error {
	for t, err := range a.tasks.Query(w.Context(), repository.All()) {
		if err != nil {
			return err
		}
		if t.AgeThen != 30 {
			return fmt.Errorf("the snapshot in task %s is %d", t.ID, t.AgeThen)
		}
	}
	return nil
}

// checkWork compares a write with what its writer was told, and all copies with their sources.
func checkWork(w *emulatortest.World, key []string, c workChange) error {
	a := workOf(w, key)
	done, err := c.done(w.Context(), a)
	if err != nil {
		return err
	}
	if told := w.Outcome("writer"); told == nil && !done || isDefinite(told) && done {
		return fmt.Errorf("%s returned %w, and is there: %v", c.name, told, done)
	}
	if err := driftOf(w, a); err != nil {
		return err
	}
	return checkSnapshots(w, a)
}

// forgery is a sabotage that every check of copies has to notice: a value that came past its source.
func forgery(key []string) map[string]func(w *emulatortest.World) {
	return map[string]func(w *emulatortest.World){"a snapshot is changed": func(w *emulatortest.World) {
		_, err := workOf(w, key).tasks.Patch(w.Context(), "t1", repository.Set("/ageThen", 99))
		must(w, err)
	}}
}

// exploreCopies explores a scenario of copies, in which writes that were forgotten are made again.
func exploreCopies(t *testing.T, s emulatortest.Scenario, key []string) {
	t.Helper()
	var kinds []emulatortest.FaultKind
	if !inFull() {
		kinds = kindsOf("killed-after", "cut-after", "late-2", "behind-2")
	}
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: kinds, Sabotage: forgery(key)})
}

// TestAWriteKeepsItsCopies: whatever becomes of the requests of a write, once the feed is drained every synced copy, count, list and link is what its
// source says, and snapshots never change.
func TestAWriteKeepsItsCopies(t *testing.T) {
	t.Parallel()
	for layout, key := range layouts() {
		for _, c := range workChanges() {
			t.Run(layout+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				exploreCopies(t, emulatortest.Scenario{
					Setup:  func(w *emulatortest.World) { setupWork(w, key) },
					Actors: []emulatortest.Actor{{Name: "writer", Do: func(w *emulatortest.World) error { return c.do(w.Context(), workOf(w, key)) }}},
					Then:   follow(key),
					Check:  func(w *emulatortest.World) error { return checkWork(w, key, c) },
				}, key)
			})
		}
	}
}

// TestTheKeeperFollowsThroughFaults: a keeper that follows changes while another write happens may be killed, held up or cut off at any of
// its requests; another one that goes on brings every copy to what its source says.
func TestTheKeeperFollowsThroughFaults(t *testing.T) {
	t.Parallel()
	for layout, key := range layouts() {
		for _, c := range workChanges() {
			if !inFull() && (c.name != "rename" || key != nil) {
				continue
			}
			t.Run(layout+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				exploreCopies(t, emulatortest.Scenario{
					Setup: func(w *emulatortest.World) {
						setupWork(w, key)
						a := workOf(w, key)
						_, err := a.persons.Mutate(w.Context(), "q", func(q *Person) error { q.Name = "new q"; return nil })
						must(w, err)
						must(w, a.tasks.Create(w.Context(), task("t4")))
					},
					Actors: []emulatortest.Actor{
						{Name: "keeper", Do: func(w *emulatortest.World) error { return workOf(w, key).keeper.CatchUp(w.Context()) }},
						{Name: "writer", Do: func(w *emulatortest.World) error { return c.do(w.Context(), workOf(w, key)) }},
					},
					Then:  follow(key),
					Check: func(w *emulatortest.World) error { return checkWork(w, key, c) },
				}, key)
			})
		}
	}
}

// TestARepairAndARename: a repair of copies that were broken beside Grove and a rename of their source at the same time leave what the source says, though
// the repair is killed and another one goes on.
func TestARepairAndARename(t *testing.T) {
	t.Parallel()
	key := []string(nil)
	rename := workChanges()[0]
	exploreCopies(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupWork(w, key)
			breakCopies(w)
		},
		Actors: []emulatortest.Actor{
			{Name: "repairer", Do: func(w *emulatortest.World) error {
				_, err := workOf(w, key).keeper.Repair(w.Context(), "acme", nil)
				return err
			}},
			{Name: "writer", Do: func(w *emulatortest.World) error { return rename.do(w.Context(), workOf(w, key)) }},
		},
		Then: func(w *emulatortest.World) {
			_, err := workOf(w, key).keeper.Repair(w.Context(), "acme", nil)
			must(w, err)
			follow(key)(w)
		},
		Check: func(w *emulatortest.World) error { return checkWork(w, key, rename) },
	}, key)
}

// TestAnAuditIsTrue: an audit that ends without an error has found exactly what is broken.
func TestAnAuditIsTrue(t *testing.T) {
	t.Parallel()
	type found struct {
		session string
		n       int
	}
	key := []string(nil)
	emulatortest.Explore(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupWork(w, key)
			breakCopies(w)
			emulatortest.State[found](w).session = sessionOfWork(w, key)
		},
		Actors: []emulatortest.Actor{{Name: "auditor", Do: func(w *emulatortest.World) error {
			ctx := repository.WithSession(w.Context(), emulatortest.State[found](w).session)
			for _, err := range workOf(w, key).keeper.Audit(ctx, "acme") {
				if err != nil {
					return err
				}
				emulatortest.State[found](w).n++
			}
			return nil
		}}},
		Check: func(w *emulatortest.World) error {
			if n := emulatortest.State[found](w).n; w.Outcome("auditor") == nil && n != broken || n > broken {
				return fmt.Errorf("the audit found %d of %d (%w)", n, broken, w.Outcome("auditor"))
			}
			return nil
		},
	}, emulatortest.ExploreOptions{Budget: time.Nanosecond, Sabotage: map[string]func(w *emulatortest.World){"one is mended": func(w *emulatortest.World) {
		_, err := workOf(w, key).keeper.Repair(w.Context(), "acme", nil)
		must(w, err)
	}}})
}

// broken is how many members breakCopies breaks.
const broken = 2

// sessionOfWork has seen what breakCopies wrote.
func sessionOfWork(w *emulatortest.World, key []string) string {
	a := workOf(w, key)
	_, err := a.tasks.Get(w.Context(), "t1")
	must(w, err)
	_, err = a.persons.Get(w.Context(), "p")
	must(w, err)
	tasks, err := registry.RepositoryOf[Task](a.db)
	must(w, err)
	return tasks.SessionToken()
}

// breakCopies writes a wrong name and a wrong count, as something that does not know Grove does.
func breakCopies(w *emulatortest.World) {
	container, err := w.Client(repository.ClientOptions(nil)).NewContainer("work", registry.DefaultContainer)
	must(w, err)
	for _, b := range []struct{ entityType, id, path string }{{"Task", "t1", "/assignee"}, {"Person", "p", "/taskCount"}} {
		var ops azcosmos.PatchOperations
		if b.path == "/taskCount" {
			ops.AppendSet(b.path, 7)
		} else {
			ops.AppendSet(b.path, "nobody")
		}
		_, err := container.PatchItem(w.Context(), azcosmos.NewPartitionKeyString("acme").AppendString(b.entityType), b.id, ops, nil)
		must(w, err)
	}
}

package denorm_test

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A reference that another writer moved around Grove is counted where it is, and no more where it was.
func TestAReferenceThatWasMovedAroundGroveIsCountedAgain(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(b *testBundle, task *Task, to *Person){
		"a replacement": func(b *testBundle, task *Task, to *Person) {
			b.tamper(task, func(doc map[string]any) { doc["assigneeId"] = to.ID })
		},
		"a patch": func(b *testBundle, task *Task, to *Person) {
			b.patchTask(task, "/assigneeId", to.ID)
		},
		"a patch, and a write by Grove before it was followed": func(b *testBundle, task *Task, to *Person) {
			b.patchTask(task, "/assigneeId", to.ID)
			_, err := b.tasks.In(acme, "p1").Mutate(b.ctx, task.ID, func(t *Task) error { t.Title = "new"; return nil })
			b.must(err)
		},
		"there and back, and there again": func(b *testBundle, task *Task, to *Person) {
			b.patchTask(task, "/assigneeId", to.ID)
			b.catchUp()
			b.patchTask(task, "/assigneeId", string(task.AssigneeID))
			b.catchUp()
			b.patchTask(task, "/assigneeId", to.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada, bob := b.person("Ada"), b.person("Bob")
			task := b.task("p1", ada)
			b.catchUp()
			b.taskCount(ada, 1)
			move(b, task, bob)
			b.catchUp()
			b.taskCount(ada, 0)
			b.taskCount(bob, 1)
			b.noDrift()
		})
	}
}

// So it is with links and with arrays of references, also where the other writer left one twice, or null.
func TestLinksThatWereMovedAroundGroveAreFollowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada, bob := b.person("Ada"), b.person("Bob")
	first, second := &Label{Text: "1"}, &Label{Text: "2"}
	b.must(b.labels.In(acme).Create(b.ctx, first))
	b.must(b.labels.In(acme).Create(b.ctx, second))
	task := &Task{Labels: []tenantitem.Ref[Label]{first.Ref()}, WatcherIDs: []tenantitem.Ref[Person]{ada.Ref()}}
	b.must(b.tasks.In(acme, "p1").Create(b.ctx, task))
	b.catchUp()
	b.patchTask(task, "/labels", []any{second.ID, second.ID})
	b.patchTask(task, "/watcherIds", []any{bob.ID, nil, bob.ID})
	b.catchUp()
	for label, want := range map[*Label]int{first: 0, second: 1} {
		got, err := b.labels.In(acme).Get(b.ctx, label.ID)
		b.must(err)
		if len(got.Tasks) != want {
			t.Errorf("label %s has the tasks %v", label.Text, got.Tasks)
		}
	}
	for person, want := range map[*Person]int{ada: 0, bob: 1} {
		got, err := b.persons.In(acme).Get(b.ctx, person.ID)
		b.must(err)
		if got.Watching != want {
			t.Errorf("%s watches %d", got.Name, got.Watching)
		}
	}
	b.noDrift()
}

// Also where the other writer had made the document itself.
func TestAnImportThatIsMovedAroundGroveIsCountedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada, bob := b.person("Ada"), b.person("Bob")
	tasks, _ := b.db.Container("tasks")
	key := azcosmos.NewPartitionKeyString(acme).AppendString("Task").AppendString("p1")
	b.must(patiently(func() error {
		_, err := tasks.CreateItem(b.ctx, key, []byte(`{"id":"import","tenantId":"acme","entityType":"Task","project":"p1","assigneeId":"`+ada.ID+`"}`), nil)
		return err
	}))
	b.catchUp()
	b.taskCount(ada, 1)
	task, err := b.tasks.In(acme, "p1").Get(b.ctx, "import")
	b.must(err)
	if task.AssigneeName != "Ada" {
		t.Errorf("the import's copy is %q", task.AssigneeName)
	}
	b.patchTask(task, "/assigneeId", bob.ID)
	b.catchUp()
	b.taskCount(ada, 0)
	b.taskCount(bob, 1)
	// And the keeper comes to rest.
	mark := b.emu.Service().Log().Mark()
	b.catchUp()
	for _, x := range b.emu.Service().Log().Since(mark) {
		if x.Container == "tasks" && x.Status == 200 && (repositoryWrites[string(x.Operation)]) {
			t.Errorf("a further write: %v", x.Operation)
		}
	}
	n, err := b.tasks.In(acme, "p1").Count(b.ctx, repository.All())
	b.must(err)
	if n != 1 {
		t.Errorf("%d tasks", n)
	}
}

var repositoryWrites = map[string]bool{"PatchItem": true, "TransactionalBatch": true, "ReplaceItem": true}

// patchTask changes a member around the repository, and leaves all others.
func (b *testBundle) patchTask(task *Task, path string, value any) {
	b.t.Helper()
	tasks, _ := b.db.Container("tasks")
	var ops azcosmos.PatchOperations
	ops.AppendSet(path, value)
	b.must(patiently(func() error {
		patched, err := tasks.PatchItem(b.ctx, azcosmos.NewPartitionKeyString(acme).AppendString("Task").AppendString(task.Project), task.ID, ops, nil)
		if err == nil {
			engine.CollectionOf(b.tasks).Saw(*patched.SessionToken)
		}
		return err
	}))
}

// A document of no type of Grove's, with a member that differs from the id by case alone, holds up nobody.
func TestAForeignIDInCapitalsStopsNoKeeper(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	tasks, _ := b.db.Container("tasks")
	b.must(patiently(func() error {
		_, err := tasks.UpsertItem(b.ctx, azcosmos.NewPartitionKeyString("other").AppendString("Legacy").AppendString("x"),
			[]byte(`{"id":"legacy","tenantId":"other","entityType":"Legacy","project":"x","ID":42,"_TS":"x"}`), nil)
		return err
	}))
	b.task("p1", ada)
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	b.must(b.keeper.CatchUp(ctx))
	b.taskCount(ada, 1)
	b.noDrift()
}

// One element of a list that is no reference is passed over, by the count as by what follows a change; the others count.
func TestAListWithAnElementThatIsNoReference(t *testing.T) {
	t.Parallel()
	watchers := func(ids ...any) func(map[string]any) { return func(doc map[string]any) { doc["watcherIds"] = ids } }
	for name, odd := range map[string]any{"a number": 7, "null": nil, "an object": map[string]any{"id": "x"}, "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada, bob := b.person("Ada"), b.person("Bob")
			task := b.task("p1", ada)
			b.catchUp()
			watching := func(want ...int) {
				t.Helper()
				b.catchUp()
				b.noDrift()
				for i, p := range []*Person{ada, bob} {
					got, err := b.persons.In(acme).Get(b.ctx, p.ID)
					b.must(err)
					if got.Watching != want[i] {
						t.Errorf("%s watches %d, not %d", p.Name, got.Watching, want[i])
					}
				}
			}
			b.tamper(task, watchers(ada.ID, odd))
			watching(1, 0)
			b.tamper(task, watchers(odd, bob.ID, ada.ID))
			watching(1, 1)
			b.tamper(task, watchers(bob.ID, odd))
			watching(0, 1)
			b.tamper(task, watchers())
			watching(0, 0)
		})
	}
}

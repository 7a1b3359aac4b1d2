package denorm_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

// A source that was deleted and created anew is followed again, count included.
func TestASourceThatIsDeletedAndCreatedAnew(t *testing.T) {
	t.Parallel()
	for name, poll := range map[string]bool{"followed in between": true, "between two polls": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada := b.person("Ada")
			task := b.withSteps(ada)
			b.catchUp()
			b.must(b.persons.In(acme).Delete(b.ctx, ada.ID, nil))
			if poll {
				b.catchUp()
			}
			again := &Person{Name: "Countess"}
			again.ID = ada.ID
			b.must(b.persons.In(acme).Create(b.ctx, again))
			b.catchUp()
			if got := b.reread(task); got.AssigneeName != "Countess" || got.Plan.Steps[1].NameThen != "Ada" {
				t.Errorf("the task: %+v", got)
			}
			b.taskCount(again, 1)
			b.noDrift()
		})
	}
}

// A name that changes and changes back between two polls leaves nothing stale.
func TestASourceThatChangesBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.task("p1", ada)
	b.catchUp()
	for range 3 {
		b.rename(ada, "Countess")
		b.rename(ada, "Ada")
		late := b.task("p1", ada)
		b.rename(ada, "Countess")
		b.rename(ada, "Ada")
		b.catchUp()
		if x, y := b.reread(task).AssigneeName, b.reread(late).AssigneeName; x != "Ada" || y != "Ada" {
			t.Errorf("the copies are %q and %q", x, y)
		}
	}
	b.noDrift()
}

// Sources and holders that are stored under a former name of their type take part like all others.
func TestCopiesUnderFormerNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db, keeper := openLayout(t, b.client, "former", layout(), []registry.Declaration{
		registry.EntityOf[Team](), registry.EntityOf[Person](registry.Named("Person", "Human")), registry.EntityOf[Task](registry.In("tasks"), registry.UniqueIDs(), registry.Named("Task", "Chore")),
		registry.ChildOf[Comment, Task](parented.Cascade), registry.EntityOf[Label](),
	}, declarations())
	b.must(db.Prepare(b.ctx))
	b.db, b.keeper, b.persons, b.tasks = db, keeper, repo[Person](t, db), repo[Task](t, db)
	person, _ := catalogue.Of(db, reflect.TypeFor[Person]())
	people, _ := db.Container(person.Container)
	tasks, _ := db.Container("tasks")
	_, err := people.CreateItem(b.ctx, azcosmos.NewPartitionKeyString(acme).AppendString("Human"), []byte(`{"id":"h","tenantId":"acme","entityType":"Human","name":"Ada"}`), nil)
	b.must(err)
	_, err = tasks.CreateItem(b.ctx, azcosmos.NewPartitionKeyString(acme).AppendString("Chore").AppendString("p1"), []byte(`{"id":"c","tenantId":"acme","entityType":"Chore","project":"p1","assigneeId":"h","assigneeName":"x"}`), nil)
	b.must(err)
	now := &Task{AssigneeID: "h"}
	b.must(b.tasks.In(acme, "p1").Create(b.ctx, now))
	if now.AssigneeName != "Ada" {
		t.Errorf("a new task shows %q", now.AssigneeName)
	}
	b.catchUp()
	for _, name := range []string{"Ada", "Countess"} {
		if name != "Ada" {
			_, err := b.persons.In(acme).Mutate(b.ctx, "h", func(p *Person) error { p.Name = name; return nil })
			b.must(err)
			b.catchUp()
		}
		for _, id := range []string{"c", now.ID} {
			got, err := b.tasks.In(acme, "p1").Get(b.ctx, id)
			b.must(err)
			if got.AssigneeName != name {
				t.Errorf("task %s shows %q, want %q", id, got.AssigneeName, name)
			}
		}
	}
	got, err := b.persons.In(acme).Get(b.ctx, "h")
	b.must(err)
	if got.TaskCount != 2 {
		t.Errorf("%d tasks", got.TaskCount)
	}
	b.noDrift()
	progress, err := keeper.Repair(b.ctx, acme, nil)
	b.must(err)
	if progress.Repaired != 0 || progress.Skipped != 0 {
		t.Errorf("the repair found more: %+v", progress)
	}
}

// What one transaction creates may copy from each other, be linked with each other, and not refer to what it deletes.
func TestCopiesWithinOneTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := registry.Config{Database: "together", Provision: true, Logger: layout().Logger, Containers: []registry.Container{{ID: "all", PartitionKey: []string{"/tenantId"}}}}
	in := registry.In("all")
	db, keeper := openLayout(t, b.client, "", cfg, []registry.Declaration{
		registry.EntityOf[Team](in), registry.EntityOf[Person](in), registry.EntityOf[Task](in), registry.ChildOf[Comment, Task](parented.Cascade, in), registry.EntityOf[Label](in),
	}, declarations())
	b.must(db.Prepare(b.ctx))
	b.keeper = keeper
	persons, tasks, labels := repo[Person](t, db), repo[Task](t, db), repo[Label](t, db)
	ada, task, label := &Person{Name: "Ada"}, &Task{AssigneeID: "ada", Project: "p"}, &Label{Text: "x"}
	ada.ID, task.ID, label.ID = "ada", "task", "label"
	task.Plan.Steps = []Step{{PersonID: "ada"}}
	task.Labels = append(task.Labels, "label")
	label.Tasks = append(label.Tasks, "task")
	b.must(partition.Commit(b.ctx, tasks.In(acme).Batch().Create(task), persons.In(acme).Batch().Create(ada), labels.In(acme).Batch().Create(label)))
	got, err := tasks.In(acme).Get(b.ctx, "task")
	b.must(err)
	if got.AssigneeName != "Ada" || got.Plan.Steps[0].NameThen != "Ada" {
		t.Errorf("the task: %+v", got)
	}
	counted, err := persons.In(acme).Get(b.ctx, "ada")
	b.must(err)
	if counted.TaskCount != 1 {
		t.Errorf("%d tasks", counted.TaskCount)
	}
	b.catchUp()
	b.noDrift()

	eve := &Person{Name: "Eve"}
	b.must(persons.In(acme).Create(b.ctx, eve))
	err = partition.Commit(b.ctx, persons.In(acme).Batch().Delete(eve.ID, ""), tasks.In(acme).Batch().Create(&Task{AssigneeID: eve.Ref(), Project: "p"}))
	if err == nil || !errors.Is(err, repository.ErrDanglingRef) && !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a task of a person that the transaction deletes: %v", err)
	}
}

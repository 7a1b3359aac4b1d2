package denorm_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Every kind of declaration finds both sides under former names of their types: chains of copies, counts, lists of the newest, links, and
// what becomes of references when their target is deleted.
func TestFormerNamesInEveryKind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.db, b.keeper = openLayout(t, b.client, "former", layout(), []registry.Declaration{
		registry.EntityOf[Team](registry.Named("Team", "Crew")), registry.EntityOf[Person](registry.Named("Person", "Human")),
		registry.EntityOf[Task](registry.In("tasks"), registry.UniqueIDs(), registry.Named("Task", "Chore")),
		registry.ChildOf[Comment, Task](parented.Cascade), registry.EntityOf[Label](registry.Named("Label", "Tag")), registry.EntityOf[Shift](registry.Named("Shift", "Turn")),
	}, append(declarations(), denorm.OnDeleteOf[Task, Person]("assigneeId", denorm.Clear), denorm.OnDeleteOf[Person, Team]("teamId", denorm.Restrict), denorm.OnDeleteOf[Shift, Person]("personId", denorm.Clear)))
	b.must(b.db.Prepare(b.ctx))
	b.teams, b.persons, b.tasks, b.labels = repo[Team](t, b.db), repo[Person](t, b.db), repo[Task](t, b.db), repo[Label](t, b.db)
	for _, doc := range []struct{ container, name, body string }{
		{registry.DefaultContainer, "Crew", `{"id":"team","tenantId":"acme","entityType":"Crew","name":"A"}`},
		{registry.DefaultContainer, "Human", `{"id":"person","tenantId":"acme","entityType":"Human","name":"Ada","teamId":"team","teamName":"x"}`},
		{registry.DefaultContainer, "Tag", `{"id":"label","tenantId":"acme","entityType":"Tag","text":"x"}`},
		{registry.DefaultContainer, "Turn", `{"id":"shift","tenantId":"acme","entityType":"Turn","personId":"person"}`},
		{"tasks", "Chore", `{"id":"task","tenantId":"acme","entityType":"Chore","project":"p1","title":"T","assigneeId":"person","labels":["label"]}`},
	} {
		container, _ := b.db.Container(doc.container)
		key := azcosmos.NewPartitionKeyString(acme).AppendString(doc.name)
		if doc.container == "tasks" {
			key = key.AppendString("p1")
		}
		b.must(patiently(func() error { _, err := container.CreateItem(b.ctx, key, []byte(doc.body), nil); return err }))
	}
	b.catchUp()
	person, err := b.persons.In(acme).Get(b.ctx, "person")
	b.must(err)
	if want := []TaskCard{{ID: "task", Title: "T"}}; person.TaskCount != 1 || person.TeamName != "A" || !slices.Equal(person.LastTasks, want) {
		t.Errorf("the person: %+v", person)
	}
	label, err := b.labels.In(acme).Get(b.ctx, "label")
	b.must(err)
	if !slices.Equal(label.Tasks, []tenantitem.Ref[Task]{"task"}) {
		t.Errorf("the label: %+v", label)
	}
	_, err = b.labels.In(acme).Mutate(b.ctx, "label", func(l *Label) error { l.Tasks = nil; return nil })
	b.must(err)
	b.catchUp()
	task, err := b.tasks.In(acme, "p1").Get(b.ctx, "task")
	b.must(err)
	if len(task.Labels) != 0 || task.AssigneeTeam == nil || *task.AssigneeTeam != "A" {
		t.Errorf("the task: %+v", task)
	}
	if err := b.teams.In(acme).Delete(b.ctx, "team", nil); !errors.Is(err, denorm.ErrReferenced) {
		t.Errorf("the delete of the team: %v", err)
	}
	b.must(b.persons.In(acme).Delete(b.ctx, "person", nil))
	b.catchUp()
	task, err = b.tasks.In(acme, "p1").Get(b.ctx, "task")
	b.must(err)
	shift, err := repo[Shift](t, b.db).In(acme).Get(b.ctx, "shift")
	b.must(err)
	if task.AssigneeID != "" || task.AssigneeName != "" || shift.PersonID != "" {
		t.Errorf("after the delete of the person: %+v, %+v", task, shift)
	}
	b.noDrift()
	b.must(b.teams.In(acme).Delete(b.ctx, "team", nil))
	progress, err := b.keeper.Repair(b.ctx, acme, nil)
	b.must(err)
	if progress.Repaired != 0 {
		t.Errorf("the repair found more: %+v", progress)
	}
}

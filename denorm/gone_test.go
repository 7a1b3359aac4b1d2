package denorm_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
)

// setupWith is setup with further declarations.
func setupWith(t *testing.T, more ...denorm.Declaration) *testBundle {
	t.Helper()
	b := setup(t)
	b.db, b.keeper = open(t, b.client, "more", append(declarations(), more...)...)
	b.must(b.db.Prepare(b.ctx))
	b.teams, b.persons, b.tasks, b.labels = repo[Team](t, b.db), repo[Person](t, b.db), repo[Task](t, b.db), repo[Label](t, b.db)
	return b
}

// withSteps is a task that refers to a person in each place.
func (b *testBundle) withSteps(p *Person) *Task {
	b.t.Helper()
	task := &Task{Title: "t", AssigneeID: p.Ref(), Plan: Plan{Steps: []Step{{Note: "1"}, {Note: "2", PersonID: p.Ref()}}}}
	b.must(b.tasks.In(acme, "p1").Create(b.ctx, task))
	return task
}

func TestCopiesOfADeletedDocumentAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.withSteps(ada)
	b.must(b.persons.In(acme).Delete(b.ctx, ada.ID, nil))
	b.catchUp()
	got := b.reread(task)
	if got.AssigneeID != ada.Ref() || got.AssigneeName != "Ada" || got.Plan.Steps[1].PersonName != "Ada" {
		t.Fatalf("after the delete: %+v", got)
	}
	// The document goes on without its source, also when it is written whole.
	got.Title = "later"
	got.Plan.Steps = slices.Delete(got.Plan.Steps, 0, 1)
	b.must(b.tasks.In(acme, "p1").Save(b.ctx, got))
	if got = b.reread(task); got.AssigneeName != "Ada" || got.Plan.Steps[0].PersonName != "Ada" || got.Plan.Steps[0].NameThen != "Ada" {
		t.Errorf("after a save: %+v", got)
	}
	b.noDrift()
}

func TestCopiesOfADeletedDocumentAreCleared(t *testing.T) {
	t.Parallel()
	b := setupWith(t, denorm.OnDeleteOf[Task, Person]("assigneeId", denorm.Clear), denorm.OnDeleteOf[Task, Person]("plan.steps[].personId", denorm.Clear))
	ada, bob := b.person("Ada"), b.person("Bob")
	task, other := b.withSteps(ada), b.withSteps(bob)
	b.must(b.persons.In(acme).Delete(b.ctx, ada.ID, nil))
	b.catchUp()
	got := b.reread(task)
	if got.AssigneeID != "" || got.AssigneeName != "" || got.Plan.Steps[1].PersonID != "" || got.Plan.Steps[1].PersonName != "" {
		t.Errorf("after the delete: %+v", got)
	}
	if got.Plan.Steps[1].NameThen != "Ada" {
		t.Errorf("the snapshot is %q", got.Plan.Steps[1].NameThen)
	}
	if got := b.reread(other); got.AssigneeName != "Bob" || got.Plan.Steps[1].PersonName != "Bob" {
		t.Errorf("another one's copies: %+v", got)
	}
	b.noDrift()
}

func TestADeleteIsRefusedWhileItIsReferredTo(t *testing.T) {
	t.Parallel()
	b := setupWith(t, denorm.OnDeleteOf[Task, Person]("plan.steps[].personId", denorm.Restrict))
	ada := b.person("Ada")
	task := b.withSteps(ada)
	one := slices.Values([]string{ada.ID})
	_, bulkErr := b.persons.In(acme).DeleteAll(b.ctx, one, nil)
	for verb, err := range map[string]error{
		"Delete":    b.persons.In(acme).Delete(b.ctx, ada.ID, nil),
		"Batch":     b.persons.In(acme).Batch().Delete(ada.ID, "").Commit(b.ctx),
		"DeleteAll": bulkErr,
	} {
		var referenced *denorm.ReferencedError
		if !errors.Is(err, denorm.ErrReferenced) || !errors.As(err, &referenced) || referenced.By != "Task" {
			t.Errorf("%s: %v", verb, err)
		}
	}
	b.must(b.tasks.In(acme, "p1").Delete(b.ctx, task.ID, nil))
	b.must(b.persons.In(acme).Delete(b.ctx, ada.ID, nil))
}

func TestLinksOfADeletedDocumentEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.task("p1", ada)
	label := &Label{Text: "x"}
	label.Tasks = append(label.Tasks, task.Ref())
	b.must(b.labels.In(acme).Create(b.ctx, label))
	b.catchUp()
	if got := b.reread(task).Labels; len(got) != 1 || got[0] != label.Ref() {
		t.Fatalf("the task's labels: %v", got)
	}
	b.must(b.labels.In(acme).Delete(b.ctx, label.ID, nil))
	b.catchUp()
	if got := b.reread(task).Labels; len(got) != 0 {
		t.Errorf("the task still has labels %v", got)
	}
	b.noDrift()
}

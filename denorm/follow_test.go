package denorm_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

func TestARenameReachesEveryKindOfCopy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	team := &Team{Name: "blue"}
	b.must(b.teams.In(acme).Create(ctx, team))
	ada := &Person{Name: "Ada", Age: 36, TeamID: team.Ref()}
	b.must(b.persons.In(acme).Create(ctx, ada))
	bob := b.person("Bob")
	task := &Task{Title: "t", AssigneeID: ada.Ref(), Plan: Plan{Steps: []Step{{Note: "1", PersonID: bob.Ref()}, {Note: "2", PersonID: ada.Ref()}, {Note: "3"}}}}
	b.must(b.tasks.In(acme, "p1").Create(ctx, task))
	if task.AssigneeName != "Ada" || task.AssigneeTeam == nil || *task.AssigneeTeam != "blue" || task.AssigneeAge != 36 || task.Plan.Steps[0].PersonName != "Bob" || task.Plan.Steps[1].NameThen != "Ada" {
		t.Fatalf("filled on write: %+v", task)
	}
	_, err := b.persons.In(acme).Mutate(ctx, ada.ID, func(p *Person) error { p.Name, p.Age = "Countess", 37; return nil })
	b.must(err)
	_, err = b.teams.In(acme).Mutate(ctx, team.ID, func(t *Team) error { t.Name = "red"; return nil })
	b.must(err)
	b.catchUp()
	got := b.reread(task)
	if got.AssigneeName != "Countess" || *got.AssigneeTeam != "red" || got.AssigneeAge != 36 {
		t.Errorf("in the document: %s, %s, %d", got.AssigneeName, *got.AssigneeTeam, got.AssigneeAge)
	}
	if s := got.Plan.Steps; s[0].PersonName != "Bob" || s[1].PersonName != "Countess" || s[1].NameThen != "Ada" || s[2].PersonName != "" {
		t.Errorf("in an array: %+v", s)
	}
	person, err := b.persons.In(acme).Get(ctx, ada.ID)
	b.must(err)
	if person.TaskCount != 1 || len(person.LastTasks) != 1 || person.LastTasks[0].Title != "t" {
		t.Errorf("kept of the task: %+v", person)
	}
	b.noDrift()
}

func TestARenameOf500CopiesIsOneQueryAndFiveBatches(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // its requests are counted
	ada := b.person("Ada")
	tasks := make([]*Task, 500)
	for i := range tasks {
		tasks[i] = &Task{Project: "p1", Title: fmt.Sprint("t", i), AssigneeID: ada.Ref()}
	}
	_, err := b.tasks.In(acme, "p1").SaveAll(t.Context(), slices.Values(tasks), nil)
	b.must(err)
	b.catchUp()
	b.rename(ada, "Countess")
	mark := b.emu.Service().Log().Mark()
	b.catchUp()
	var queries, batches int
	for _, x := range b.emu.Service().Log().Since(mark) {
		switch {
		case x.Container != "tasks":
		case x.Operation == emulator.TransactionalBatch:
			batches++
		case x.Operation == emulator.QueryItems && batches == 0:
			queries++
		}
	}
	if queries != 1 || batches != 5 {
		t.Errorf("%d queries before the first of %d batches", queries, batches)
	}
	for task, err := range b.tasks.In(acme, "p1").Query(t.Context(), repository.All()) {
		b.must(err)
		if task.AssigneeName != "Countess" {
			t.Fatalf("task %s: %q", task.ID, task.AssigneeName)
		}
	}
}

func TestAChangeOfOtherFieldsPatchesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.task("p1", ada)
	b.catchUp()
	before := b.reread(task).ETag
	_, err := b.persons.In(acme).Mutate(t.Context(), ada.ID, func(p *Person) error { p.Age = 99; return nil })
	b.must(err)
	b.catchUp()
	if after := b.reread(task).ETag; after != before {
		t.Error("the task was written")
	}
}

func TestOneReadOfSourcesForAWholeBulk(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.Calm()) // its requests are counted
	persons := make([]*Person, 20)
	for i := range persons {
		persons[i] = b.person(fmt.Sprint("person ", i))
	}
	tasks := make([]*Task, 300)
	for i := range tasks {
		tasks[i] = &Task{Title: "t", AssigneeID: persons[i%20].Ref()}
	}
	got := b.requests(func() {
		_, err := b.tasks.In(acme, "p1").SaveAll(t.Context(), slices.Values(tasks), nil)
		b.must(err)
	})
	if got[emulator.QueryItems] != 1 || got[emulator.ReadItem] != 0 || got[emulator.TransactionalBatch] != 3 {
		t.Errorf("requests: %v", got)
	}
	if tasks[299].AssigneeName != "person 19" {
		t.Errorf("the last task's copy: %q", tasks[299].AssigneeName)
	}
}

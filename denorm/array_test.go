package denorm_test

import (
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/tenantitem"
)

// thenOf are the snapshots of a task's steps.
func thenOf(task *Task) []string {
	var names []string
	for _, s := range task.Plan.Steps {
		names = append(names, s.NameThen)
	}
	return names
}

// An editor copies a line in front of itself, behind itself, or adds a new one with the same reference: each line that was there keeps
// what it had, a copy keeps that too, and a new line is taken anew.
func TestDuplicatedElementsKeepTheirSnapshots(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit func(steps []Step, now tenantitem.Ref[Person]) []Step
		want []string
	}{
		"copied in front of itself":  {func(s []Step, _ tenantitem.Ref[Person]) []Step { return slices.Insert(s, 0, s[0]) }, []string{"Ada", "Ada"}},
		"copied behind itself":       {func(s []Step, _ tenantitem.Ref[Person]) []Step { return append(s, s[0]) }, []string{"Ada", "Ada"}},
		"copied twice":               {func(s []Step, _ tenantitem.Ref[Person]) []Step { return append(s, s[0], s[0]) }, []string{"Ada", "Ada", "Ada"}},
		"a new one in front":         {func(s []Step, p tenantitem.Ref[Person]) []Step { return slices.Insert(s, 0, Step{PersonID: p}) }, []string{"Countess", "Ada"}},
		"a new one behind":           {func(s []Step, p tenantitem.Ref[Person]) []Step { return append(s, Step{PersonID: p}) }, []string{"Ada", "Countess"}},
		"written over":               {func(s []Step, _ tenantitem.Ref[Person]) []Step { s[0].NameThen = "x"; return s }, []string{"Ada"}},
		"copied, and one emptied":    {func(s []Step, _ tenantitem.Ref[Person]) []Step { return append(s, s[0], Step{}) }, []string{"Ada", "Ada", ""}},
		"a copy with another's name": {func(s []Step, p tenantitem.Ref[Person]) []Step { return append(s, Step{PersonID: p, NameThen: "x"}) }, []string{"Ada", "Countess"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada := b.person("Ada")
			task := &Task{Plan: Plan{Steps: []Step{{Note: "1", PersonID: ada.Ref()}}}}
			b.must(b.tasks.In(acme, "p1").Create(b.ctx, task))
			b.rename(ada, "Countess")
			b.catchUp()
			task = b.reread(task)
			task.Plan.Steps = tt.edit(task.Plan.Steps, ada.Ref())
			b.must(b.tasks.In(acme, "p1").Save(b.ctx, task))
			if got := thenOf(b.reread(task)); !slices.Equal(got, tt.want) {
				t.Errorf("the snapshots are %q, want %q", got, tt.want)
			}
			b.catchUp()
			b.noDrift()
		})
	}
}

// So it is by every verb.
func TestEveryVerbKeepsTheSnapshotsOfDuplicatedElements(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(b *testBundle, task *Task) error{
		"Save":    func(b *testBundle, task *Task) error { return b.tasks.In(acme, "p1").Save(b.ctx, task) },
		"Replace": func(b *testBundle, task *Task) error { return b.tasks.In(acme, "p1").Replace(b.ctx, task) },
		"Upsert":  func(b *testBundle, task *Task) error { return b.tasks.In(acme, "p1").Upsert(b.ctx, task) },
		"Mutate": func(b *testBundle, task *Task) error {
			_, err := b.tasks.In(acme, "p1").Mutate(b.ctx, task.ID, func(t *Task) error {
				t.Plan, t.AssigneeAge = task.Plan, task.AssigneeAge
				return nil
			})
			return err
		},
		"Batch with Replace": func(b *testBundle, task *Task) error {
			return b.tasks.In(acme, "p1").Batch().Replace(task).Commit(b.ctx)
		},
		"Batch with Upsert": func(b *testBundle, task *Task) error {
			return b.tasks.In(acme, "p1").Batch().Upsert(task).Commit(b.ctx)
		},
		"SaveAll": func(b *testBundle, task *Task) error {
			_, err := b.tasks.In(acme).SaveAll(b.ctx, slices.Values([]*Task{task}), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada := &Person{Name: "Ada", Age: 36}
			b.must(b.persons.In(acme).Create(b.ctx, ada))
			task := &Task{AssigneeID: ada.Ref(), Plan: Plan{Steps: []Step{{Note: "0"}, {Note: "1", PersonID: ada.Ref()}, {Note: "2"}}}}
			b.must(b.tasks.In(acme, "p1").Create(b.ctx, task))
			_, err := b.persons.In(acme).Mutate(b.ctx, ada.ID, func(p *Person) error { p.Name, p.Age = "Countess", 37; return nil })
			b.must(err)
			b.catchUp()
			task = b.reread(task)
			task.AssigneeAge = 99
			s := task.Plan.Steps
			task.Plan.Steps = []Step{s[0], s[1], s[1], {PersonID: ada.Ref()}, s[2], s[1]}
			b.must(write(b, task))
			got := b.reread(task)
			if want := []string{"", "Ada", "Ada", "Countess", "", "Ada"}; !slices.Equal(thenOf(got), want) || got.AssigneeAge != 36 {
				t.Errorf("the snapshots are %q and %d", thenOf(got), got.AssigneeAge)
			}
			b.catchUp()
			b.noDrift()
		})
	}
}

// References that are null or missing, and elements that are null, hold nothing and disturb nothing.
func TestNullsInArrays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.withSteps(ada)
	b.catchUp()
	b.tamper(task, func(doc map[string]any) {
		steps := doc["plan"].(map[string]any)["steps"].([]any)
		doc["plan"].(map[string]any)["steps"] = append([]any{nil, map[string]any{"personId": nil, "personName": nil}, map[string]any{}}, steps...)
		doc["watcherIds"] = []any{nil, ada.ID}
		doc["labels"] = nil
	})
	b.catchUp()
	b.rename(ada, "Countess")
	b.catchUp()
	if got := b.reread(task).Plan.Steps[4]; got.PersonName != "Countess" || got.NameThen != "Ada" {
		t.Errorf("the last step: %+v", got)
	}
	if p, err := b.persons.In(acme).Get(b.ctx, ada.ID); err != nil || p.Watching != 1 || p.TaskCount != 1 {
		t.Errorf("the person: %+v, %v", p, err)
	}
	b.noDrift()
	_, err := b.tasks.In(acme, "p1").Mutate(b.ctx, task.ID, func(t *Task) error { t.Title = "new"; return nil })
	b.must(err)
	b.catchUp()
	b.noDrift()
}

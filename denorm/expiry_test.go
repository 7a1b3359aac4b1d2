package denorm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// What expires is counted, listed and linked for good, so no verb lets a document of such a type have a time to live of its own.
func TestWhatIsCountedMayNotExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	label := &Label{Text: "x"}
	b.must(b.labels.In(acme).Create(b.ctx, label))
	task := b.task("p1", ada)
	tasks := b.tasks.In(acme, "p1")
	soon := 60
	expiring := func() *Task {
		t := &Task{Title: "x", AssigneeID: ada.Ref()}
		t.TTL = &soon
		return t
	}
	stored := func() *Task {
		t := b.reread(task)
		t.TTL = &soon
		return t
	}
	refused := map[string]func() error{
		"Create":  func() error { return tasks.Create(b.ctx, expiring()) },
		"Save":    func() error { return tasks.Save(b.ctx, expiring()) },
		"Upsert":  func() error { return tasks.Upsert(b.ctx, expiring()) },
		"Batch":   func() error { return tasks.Batch().Create(expiring()).Commit(b.ctx) },
		"SaveAll": func() error { _, err := tasks.SaveAll(b.ctx, slices.Values([]*Task{expiring()}), nil); return err },
		"a linked document": func() error {
			l := &Label{Text: "y"}
			l.TTL = &soon
			return b.labels.In(acme).Create(b.ctx, l)
		},
		"a counted child": func() error {
			c := &Comment{}
			c.TTL = &soon
			return b.comments.Under(task).Create(b.ctx, c)
		},
	}
	for name, write := range refused {
		var err error
		sent := b.requests(func() { err = write() })
		var invalid *tenantitem.InvalidError
		if !errors.Is(err, repository.ErrInvalid) || !errors.As(err, &invalid) || !strings.Contains(invalid.Hint, "delete") || len(sent) > 0 {
			t.Errorf("%s: %v, after %v", name, err, sent)
		}
	}
	for name, write := range map[string]func() error{
		"Replace": func() error { return tasks.Replace(b.ctx, stored()) },
		"Mutate": func() error {
			_, err := tasks.Mutate(b.ctx, task.ID, func(t *Task) error { t.TTL = &soon; return nil })
			return err
		},
		"Patch": func() error { _, err := tasks.Patch(b.ctx, task.ID, repository.Set("/ttl", soon)); return err },
	} {
		if err := write(); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	never := -1
	stays := &Task{Title: "x", AssigneeID: ada.Ref()}
	stays.TTL = &never
	b.must(tasks.Create(b.ctx, stays))
	leaving := &Person{Name: "Bob"} // counts others, and is not counted
	leaving.TTL = &soon
	b.must(b.persons.In(acme).Create(b.ctx, leaving))
	b.catchUp()
	b.taskCount(ada, 2)
	b.noDrift()
}

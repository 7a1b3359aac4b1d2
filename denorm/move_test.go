package denorm_test

import (
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

// taskCount asserts what a person knows of its tasks.
func (b *testBundle) taskCount(p *Person, want int) {
	b.t.Helper()
	got, err := b.persons.In(acme).Get(b.ctx, p.ID)
	b.must(err)
	if got.TaskCount != want || len(got.LastTasks) != min(want, 2) {
		b.t.Errorf("%s has %d tasks and %d cards, want %d", p.Name, got.TaskCount, len(got.LastTasks), want)
	}
}

func TestWhatADocumentLeavesIsCountedAgain(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(b *testBundle, task *Task, to *Person) error{
		"Mutate": func(b *testBundle, task *Task, to *Person) error {
			_, err := b.tasks.In(acme, "p1").Mutate(b.ctx, task.ID, func(t *Task) error { t.AssigneeID = to.Ref(); return nil })
			return err
		},
		"Replace": func(b *testBundle, task *Task, to *Person) error {
			task.AssigneeID = to.Ref()
			return b.tasks.In(acme, "p1").Replace(b.ctx, task)
		},
		"Upsert": func(b *testBundle, task *Task, to *Person) error {
			task.AssigneeID = to.Ref()
			return b.tasks.In(acme, "p1").Upsert(b.ctx, task)
		},
		"Batch": func(b *testBundle, task *Task, to *Person) error {
			task.AssigneeID = to.Ref()
			return b.tasks.In(acme, "p1").Batch().Replace(task).Commit(b.ctx)
		},
		"SaveAll": func(b *testBundle, task *Task, to *Person) error {
			task.AssigneeID = to.Ref()
			_, err := b.tasks.In(acme).SaveAll(b.ctx, slices.Values([]*Task{task}), nil)
			return err
		},
		"Delete and Create of the same id": func(b *testBundle, task *Task, to *Person) error {
			if err := b.tasks.In(acme, "p1").Delete(b.ctx, task.ID, nil); err != nil {
				return err
			}
			again := &Task{AssigneeID: to.Ref()}
			again.ID = task.ID
			return b.tasks.In(acme, "p1").Create(b.ctx, again)
		},
		"twice before anybody looks": func(b *testBundle, task *Task, to *Person) error {
			for _, p := range []*Person{b.person("between"), to} {
				task.AssigneeID = p.Ref()
				if err := b.tasks.In(acme, "p1").Save(b.ctx, task); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada, bob := b.person("Ada"), b.person("Bob")
			task := b.task("p1", ada)
			b.catchUp()
			b.taskCount(ada, 1)
			b.catchUp() // and every change that this made is behind us
			task = b.reread(task)
			b.must(move(b, task, bob))
			b.catchUp()
			b.taskCount(ada, 0)
			b.taskCount(bob, 1)
			b.noDrift()
		})
	}
}

func TestAMovedChildIsCountedByBothParents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	from, to := b.task("p1", ada), b.task("p2", ada)
	c := &Comment{Body: "x"}
	b.must(b.comments.Under(from).Create(b.ctx, c))
	b.catchUp()
	if got := b.reread(from).CommentCount; got != 1 {
		t.Fatalf("%d comments before the move", got)
	}
	b.must(b.comments.Move(b.ctx, acme, c.ID, to.Ref()))
	b.catchUp()
	if x, y := b.reread(from).CommentCount, b.reread(to).CommentCount; x != 0 || y != 1 {
		t.Errorf("%d and %d comments after the move", x, y)
	}
	b.must(b.comments.In(acme).Delete(b.ctx, c.ID, nil))
	b.catchUp()
	if got := b.reread(to).CommentCount; got != 0 {
		t.Errorf("%d comments after the delete", got)
	}
	b.noDrift()
	n, err := b.comments.In(acme).Count(b.ctx, repository.All())
	b.must(err)
	if n != 0 {
		t.Errorf("%d comments are seen", n)
	}
}

// A child keeps its snapshots when it moves to another parent, also into another partition.
func TestAMovedChildKeepsItsSnapshots(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	from, to := b.task("p1", ada), b.task("p2", ada)
	comment := &Comment{AuthorID: ada.Ref(), Body: "x"}
	b.must(b.comments.Under(from).Create(b.ctx, comment))
	b.rename(ada, "Countess")
	b.catchUp()
	b.must(b.comments.Move(b.ctx, acme, comment.ID, to.Ref()))
	b.catchUp()
	got, err := b.comments.Under(to).Get(b.ctx, comment.ID)
	b.must(err)
	if got.AuthorName != "Ada" {
		t.Errorf("the snapshot is %q", got.AuthorName)
	}
	b.noDrift()
}

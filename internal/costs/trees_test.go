package costs

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// trees are the rows of what package parented does.
func trees(t *testing.T) (rows []row) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { rows = countTrees(t) })
	return rows
}

func countTrees(t *testing.T) []row {
	t.Helper()
	ctx := t.Context()
	a := open(t, 1)
	note, other := a.note(), a.note()
	first := &Comment{Body: "the first"}
	rows := []row{
		a.count("create a child", "3. A parent and its children lie in two logical partitions, which no batch spans. The look before refuses a child of a missing parent before anything of it can be seen, the one after finds a delete that began meanwhile", func() error { return a.comments.Under(note).Create(ctx, first) }),
		a.count("create the next child of the same parent", "3, as before: that the parent was there a moment ago would not keep a dangling child from being seen, and left there by a process that dies", func() error { return a.comments.Under(note).Create(ctx, &Comment{Body: "the next"}) }),
		a.count("move a child to another parent", "4: the child is read to be bound to its version, and the new parent is looked at before and after", func() error { return a.comments.Move(ctx, tenant, first.ID, other.Ref()) }),
		a.count("append the first entry", "4: the newest bucket is asked for, and the first one is created as a child", func() error {
			_, err := a.lines.Under(note).Append(ctx, Line{Text: "one"})
			return err
		}),
		a.count("append an entry to a bucket with room", "2: the look finds a delete of the parent that has begun and has not come to this bucket", func() error {
			_, err := a.lines.Under(note).Append(ctx, Line{Text: "two"})
			return err
		}),
	}
	for _, n := range []int{0, 1, 100, 1000} {
		parent := a.note()
		a.must(saveComments(t, a, parent, n))
		rows = append(rows, a.count(fmt.Sprintf("delete a parent with %s children", thousands(n)), "", func() error { return a.notes.Delete(ctx, parent.ID, nil) }))
		rows[len(rows)-1].least = leastOfDelete(n)
	}
	return rows
}

// leastOfDelete is what a delete of a tree needs: it can die anywhere and be
// resumed, so that it is written into the root before anything is removed.
func leastOfDelete(n int) string {
	if n == 0 {
		return "5: reading the root, beginning, asking each of two types for children, and removing the root"
	}
	return fmt.Sprintf("%d: those 5 and a batch for every hundred children; the others are a look at the root before each round of removals, which an undo may have ended, and one more query for the children of creators that died", 5+(n+99)/100)
}

func saveComments(t *testing.T, a *account, parent *Note, n int) error {
	t.Helper()
	children := make([]*Comment, n)
	for i := range children {
		children[i] = &Comment{Body: fmt.Sprint("comment ", i)}
		children[i].ParentID = parent.Ref()
	}
	_, err := a.comments.In(tenant).SaveAll(t.Context(), values(children), nil)
	return err
}

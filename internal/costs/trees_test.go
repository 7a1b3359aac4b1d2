package costs

import (
	"fmt"
	"testing"
)

// trees are the rows of what package parented does.
func trees(t *testing.T) []row {
	t.Helper()
	ctx := t.Context()
	a := open(t, 1)
	note, other := a.note(), a.note()
	first := &Comment{Body: "the first"}
	rows := []row{
		a.count("create a child", "", func() error { return a.comments.Under(note).Create(ctx, first) }),
		a.count("create the next child of the same parent", "", func() error { return a.comments.Under(note).Create(ctx, &Comment{Body: "the next"}) }),
		a.count("move a child to another parent", "", func() error { return a.comments.Move(ctx, tenant, first.ID, other.Ref()) }),
		a.count("append the first entry", "", func() error {
			_, err := a.lines.Under(note).Append(ctx, Line{Text: "one"})
			return err
		}),
		a.count("append an entry to a bucket with room", "", func() error {
			_, err := a.lines.Under(note).Append(ctx, Line{Text: "two"})
			return err
		}),
	}
	for _, n := range []int{0, 1, 100, 1000} {
		parent := a.note()
		a.must(saveComments(t, a, parent, n))
		rows = append(rows, a.count(fmt.Sprintf("delete a parent with %s children", thousands(n)), "", func() error { return a.notes.Delete(ctx, parent.ID, nil) }))
	}
	return rows
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

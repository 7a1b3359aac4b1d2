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
	book := &Book{Title: "a book"}
	a.must(a.books.Create(ctx, book))
	rows := []row{
		a.count("create a child", bound{requests: 3, why: "a parent and its children lie in two logical partitions, which no batch spans. The look before refuses a child of a missing parent before anything of it can be seen, the one after finds a delete that began meanwhile"}, func() error { return a.comments.Under(note).Create(ctx, first) }),
		a.count("create the next child of the same parent", bound{requests: 3, why: "as the first: that the parent was there a moment ago would not keep a dangling child from being seen, and left there by a process that dies"}, func() error { return a.comments.Under(note).Create(ctx, &Comment{Body: "the next"}) }),
		a.count("create a child in its parent's logical partition", bound{requests: 2, why: "the look before, and a batch that creates the child and reads the parent: a delete that begins later has its mark behind the child in that partition, and sees the child. The look before keeps a child of a deleted parent from being seen for a moment"}, func() error { return a.chapters.Under(book).Create(ctx, &Chapter{Title: "one"}) }),
		a.count("move a child to another parent", bound{requests: 4, why: "the child is read to be bound to its version, and the new parent is looked at before and after"}, func() error { return a.comments.Move(ctx, tenant, first.ID, other.Ref()) }),
		a.count("append the first entry", bound{requests: 4, why: "a process that has not appended to this parent asks for the newest bucket, and the first one is created as a child. To try the first one at once would cost every parent with buckets a refused create"}, func() error {
			_, err := a.lines.Under(note).Append(ctx, Line{Text: "one"})
			return err
		}),
		a.count("append an entry to a bucket with room", bound{requests: 2, why: "the look, and the patch", more: "the look refuses an entry when the delete of its parent has begun and has not come to this bucket"}, func() error {
			_, err := a.lines.Under(note).Append(ctx, Line{Text: "two"})
			return err
		}),
	}
	for _, n := range []int{0, 1, 100, 1000} {
		plural := "children"
		if n == 1 {
			plural = "child"
		}
		parent := a.note()
		a.must(saveComments(t, a, parent, n))
		rows = append(rows, a.count(fmt.Sprintf("delete a parent with %s %s", thousands(n), plural), leastOfDelete(n), func() error { return a.notes.Delete(ctx, parent.ID, nil) }))
	}
	return append(rows, countRestorable(t, a)...)
}

// countRestorable are the rows of a tree whose deletes can be undone.
func countRestorable(t *testing.T, a *account) []row {
	t.Helper()
	ctx := t.Context()
	album, other := &Album{Title: "an album"}, &Album{Title: "another"}
	a.must(a.albums.Create(ctx, album))
	a.must(a.albums.Create(ctx, other))
	photos := make([]*Photo, 100)
	for i := range photos {
		photos[i] = &Photo{Title: fmt.Sprint("photo ", i)}
		photos[i].ParentID = album.Ref()
	}
	_, err := a.photos.In(tenant).SaveAll(ctx, values(photos), nil)
	a.must(err)
	stray := &Photo{Title: "a photo"}
	a.must(a.photos.Under(other).Create(ctx, stray))
	return []row{
		a.count("move a child whose parent can be restored", bound{requests: 5, why: "those 4, and ending the mark of the move", more: "a child that moves between two deletes, and whose mover dies, is with one of the two parents. The mark in the child says so to both deletes"}, func() error { return a.photos.Move(ctx, tenant, stray.ID, album.Ref()) }),
		a.count("delete a parent with 101 children that can be restored", bound{requests: 8, why: "reading the root, beginning, asking for children, a look at the root, two batches, a last query, and the root. " + lastQuery}, func() error { return a.albums.Delete(ctx, album.ID, nil) }),
		a.count("restore it", bound{
			requests: 7, why: "reading the root, beginning, asking for what was deleted with it, two batches, a last query, and the root. The last query finds what another process of the delete has hidden meanwhile, though it died",
			more: "each document keeps the id of the delete that was undone, by which a process that is late with it leaves the document alone",
		}, func() error { return a.albums.Restore(ctx, album.ID) }),
	}
}

const lastQuery = "The last query sees all that was committed until the last batch: the children that the one before it lacked, since its replica was behind, or since their creators wrote them after it and died"

// leastOfDelete is what a delete of a tree needs: it can die anywhere and be
// resumed, so that it is written into the root before anything is removed.
func leastOfDelete(n int) bound {
	const page, batch = 500, 100
	if n == 0 {
		return bound{requests: 5, why: "reading the root, whose members the mark keeps, beginning, asking each of two types for children, and removing the root"}
	}
	pages, batches := (n+page-1)/page, (n+batch-1)/batch
	return bound{
		requests: 5 + 2*pages + batches,
		why:      "those 5, a query for each 500 children and a look at the root, since an undo may have ended the delete, and a batch for every hundred. " + lastQuery,
	}
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

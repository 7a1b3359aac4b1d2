package repository_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleScopeOf_Batch() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	a, b := &Note{Title: "a"}, &Note{Title: "b"}
	fmt.Println(acme.Batch().Create(a).Create(b).Commit(ctx))

	a.Title = "changed"
	err := acme.Batch().Replace(a).Delete(b.ID, `"stale"`).Commit(ctx)
	var failed *repository.BatchError
	if errors.As(err, &failed) {
		fmt.Println(failed.Index, failed.Verb, failed.Status)
	}
	got, _ := acme.Get(ctx, a.ID)
	fmt.Println(got.Title) // nothing was applied
	// Output:
	// <nil>
	// 1 Delete 412
	// a
}

// A batch is one transaction: it creates, overwrites, changes, reads and deletes
// documents of one logical partition, all or none.
func ExampleBatch() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	kept, gone := &Note{Title: "kept"}, &Note{Title: "gone"}
	_ = acme.Batch().Create(kept).Create(gone).Commit(ctx)

	added, setting := &Note{Title: "added"}, &Note{Title: "dark"}
	setting.ID = "theme"
	kept.Title = "changed"
	var after Note
	err := acme.Batch().
		Save(added). // creates: it has no etag
		Save(kept).  // replaces the version that was read
		Upsert(setting).
		Patch(kept.ID, repository.Increment("/count", 1)).
		Delete(gone.ID, gone.ETag).
		Read(kept.ID, &after). // as it is at this point of the batch
		Commit(ctx)
	fmt.Println(after.Title, after.Count, added.ETag != "", err)
	// Output: changed 1 true <nil>
}

package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleScopeOf_SaveAll() {
	acme, done := exampleNotes()
	defer done()
	taken := &Note{Title: "there before"}
	_ = acme.Create(context.Background(), taken)

	input := []*Note{{Title: "a"}, {Title: "b"}, {Title: "c"}}
	input[1].ID = taken.ID
	ctx, tally := repository.WithTally(context.Background())
	receipt, err := acme.SaveAll(ctx, slices.Values(input), nil)
	fmt.Println(receipt.Succeeded, receipt.Failed, errors.Is(err, repository.ErrConflict), tally.Requests() < 5)
	for _, item := range receipt.Items {
		fmt.Println(item.Index, item.Status)
	}
	// Output:
	// 2 1 true true
	// 0 succeeded
	// 1 failed
	// 2 succeeded
}

// A run that was stopped goes on in another process.
func ExampleScopeOf_SaveAll_resume() {
	acme, done := exampleNotes()
	defer done()
	input := notesFrom(500)

	var saved string // kept where a restart finds it
	ctx, stop := context.WithCancel(context.Background())
	_, err := acme.SaveAll(ctx, slices.Values(input), &repository.BulkOptions{Progress: func(p repository.Receipt) {
		saved = p.Resume
		if p.Succeeded >= 100 {
			stop()
		}
	}})
	fmt.Println("stopped:", err != nil)

	receipt, err := acme.SaveAll(context.Background(), slices.Values(notesFrom(500)), &repository.BulkOptions{Resume: saved})
	n, _ := acme.Count(context.Background(), repository.All())
	fmt.Println(receipt.Skipped+receipt.Succeeded, n, err)
	// Output:
	// stopped: true
	// 500 500 <nil>
}

func ExampleScopeOf_DeleteAll() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_, _ = acme.SaveAll(ctx, slices.Values(notesFrom(30)), nil)

	type onlyID struct {
		ID string `json:"id"`
	}
	old := func(yield func(string) bool) {
		for row, err := range repository.Project[onlyID](ctx, &acme.Reader, repository.Where(repository.Lt("title", "n00010"))) {
			if err != nil || !yield(row.ID) {
				return
			}
		}
	}
	receipt, err := acme.DeleteAll(ctx, old, nil)
	fmt.Println(receipt.Succeeded, err)
	// Output: 10 <nil>
}

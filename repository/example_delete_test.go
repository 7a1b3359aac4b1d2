package repository_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleScopeOf_Delete() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	err := acme.Delete(ctx, note.ID, &repository.DeleteOptions{ETag: `"another"`})
	fmt.Println(errors.Is(err, repository.ErrPreconditionFailed))
	fmt.Println(acme.Delete(ctx, note.ID, nil))
	// Output:
	// true
	// <nil>
}

func ExampleScopeOf_PlanDelete() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	plan, err := acme.PlanDelete(ctx, note.ID)
	fmt.Println(plan.Removed, len(plan.Restricting), err)
	there, err := acme.Exists(ctx, note.ID)
	fmt.Println("still there:", there, err)
	// Output:
	// map[Note:1] 0 <nil>
	// still there: true <nil>
}

// A delete with the plan that a person has confirmed takes no more than was shown.
func ExampleDeleteOptions_plan() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	plan, _ := acme.PlanDelete(ctx, note.ID)
	err := acme.Delete(ctx, note.ID, &repository.DeleteOptions{Plan: plan.Token})
	if errors.Is(err, repository.ErrPreconditionFailed) {
		fmt.Println("show it again") // it had got children
	}
	fmt.Println(err)
	// Output:
	// <nil>
}

func ExampleScopeOf_Restore() {
	acme, done := exampleKeptNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)
	_ = acme.Delete(ctx, note.ID, nil)

	_, err := acme.Get(ctx, note.ID)
	fmt.Println("deleted:", errors.Is(err, repository.ErrNotFound))
	fmt.Println(acme.Restore(ctx, note.ID))
	back, err := acme.Get(ctx, note.ID)
	fmt.Println(back.Title, err)
	// Output:
	// deleted: true
	// <nil>
	// first <nil>
}

func ExampleScopeOf_Purge() {
	acme, done := exampleKeptNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	fmt.Println("not deleted yet:", errors.Is(acme.Purge(ctx, note.ID), repository.ErrConflict))
	_ = acme.Delete(ctx, note.ID, nil)
	fmt.Println(acme.Purge(ctx, note.ID))
	fmt.Println("gone for good:", errors.Is(acme.Restore(ctx, note.ID), repository.ErrNotFound))
	// Output:
	// not deleted yet: true
	// <nil>
	// gone for good: true
}

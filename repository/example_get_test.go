package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleScopeOf_Get() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)

	got, err := acme.Get(ctx, note.ID)
	fmt.Println(got.Title, err)
	_, err = acme.Get(ctx, "missing")
	fmt.Println(err)
	// Output:
	// first <nil>
	// Get Note "missing" of tenant "acme": not found: HTTP 404
}

func ExampleScopeOf_GetMany() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	input := notesFrom(3)
	_, _ = acme.SaveAll(ctx, slices.Values(input), nil)

	many, err := acme.GetMany(ctx, input[2].ID, "missing", input[0].ID)
	for _, n := range many {
		fmt.Println(n.Title)
	}
	var missing *repository.MissingError
	if errors.As(err, &missing) {
		fmt.Println(missing.IDs)
	}
	// Output:
	// n00002
	// n00000
	// [missing]
}

func ExampleScopeOf_Exists() {
	acme, done := exampleNotes()
	defer done()
	fmt.Println(acme.Exists(context.Background(), "missing"))
	// Output: false <nil>
}

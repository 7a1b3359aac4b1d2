package repository_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleScopeOf_Patch() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "draft", Tags: []string{"a"}}
	_ = acme.Create(ctx, note)

	got, err := acme.Patch(ctx, note.ID, repository.Set("/title", "final").Add("/tags/-", "b").Increment("/count", 2).
		If(repository.Eq("title", "draft")))
	fmt.Println(got.Title, got.Tags, got.Count, err)

	_, err = acme.Patch(ctx, note.ID, repository.Set("/titel", "x"))
	fmt.Println(errors.Is(err, repository.ErrInvalid))
	// Output:
	// final [a b] 2 <nil>
	// true
}

// Edits are applied in their order, all or none, to the version that was read.
func ExampleEdits() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "draft", Tags: []string{"a", "b"}}
	_ = acme.Create(ctx, note)

	edits := repository.Edits{}.Set("/title", "final").Remove("/tags/0").Set("/address", Address{City: "Ghent"})
	got, err := acme.Patch(ctx, note.ID, edits.IfMatch(note.ETag))
	fmt.Println(got.Title, got.Tags, got.Address.City, err)

	_, err = acme.Patch(ctx, note.ID, edits.IfMatch(note.ETag)) // that version is gone
	fmt.Println(errors.Is(err, repository.ErrPreconditionFailed))
	// Output:
	// final [b] Ghent <nil>
	// true
}

// A counter is incremented without a read, however many writers there are.
func ExampleIncrement() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "visits"}
	_ = acme.Create(ctx, note)

	for range 3 {
		_, _ = acme.Patch(ctx, note.ID, repository.Increment("/count", 1))
	}
	got, err := acme.Get(ctx, note.ID)
	fmt.Println(got.Count, err)
	// Output: 3 <nil>
}

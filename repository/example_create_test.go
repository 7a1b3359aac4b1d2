package repository_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleRepositoryOf_In() {
	t, done := exampleTest()
	defer done()
	notes := setupNotes(t).notes
	ctx := context.Background()

	note := &Note{Title: "private"}
	_ = notes.In("acme").Create(ctx, note)
	_, err := notes.In("globex").Get(ctx, note.ID)
	fmt.Println(errors.Is(err, repository.ErrNotFound))
	// Output: true
}

func ExampleScopeOf_Create() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()

	note := &Note{Title: "first"}
	err := acme.Create(ctx, note)
	fmt.Println(err, note.ID != "", note.TenantID, note.EntityType, note.ETag != "")

	err = acme.Create(ctx, &Note{TenantItem: note.TenantItem, Title: "again"})
	fmt.Println(errors.Is(err, repository.ErrConflict))
	// Output:
	// <nil> true acme Note true
	// true
}

func ExampleScopeOf_Replace() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "first"}
	_ = acme.Create(ctx, note)
	stale := *note

	note.Title = "second"
	fmt.Println(acme.Replace(ctx, note))

	stale.Title = "a lost update"
	var conflict *repository.ConflictError[Note]
	if err := acme.Replace(ctx, &stale); errors.As(err, &conflict) {
		fmt.Println("meanwhile it became:", conflict.Current.Title)
	}
	// Output:
	// <nil>
	// meanwhile it became: second
}

func ExampleScopeOf_Save() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()

	note := &Note{Title: "first"}
	_ = acme.Save(ctx, note) // creates: it has no etag
	note.Title = "second"
	_ = acme.Save(ctx, note) // replaces

	_ = acme.Delete(ctx, note.ID, nil)
	err := acme.Save(ctx, note) // does not bring it back
	fmt.Println(errors.Is(err, repository.ErrNotFound))
	// Output: true
}

func ExampleScopeOf_Upsert() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()

	setting := &Note{Title: "dark"}
	setting.ID = "theme"
	fmt.Println(acme.Upsert(ctx, setting)) // creates it
	setting.Title, setting.ETag = "light", "whatever"
	fmt.Println(acme.Upsert(ctx, setting)) // overwrites it without looking
	// Output:
	// <nil>
	// <nil>
}

func ExampleScopeOf_Mutate() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "visits"}
	_ = acme.Create(ctx, note)

	got, err := acme.Mutate(ctx, note.ID, func(n *Note) error {
		n.Count++ // runs again on the newer document if another writer came between
		return nil
	})
	fmt.Println(got.Count, err)
	// Output: 1 <nil>
}

package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleWithTenant() {
	acme, done := exampleNotes()
	defer done()
	ctx := repository.WithTenant(context.Background(), "globex") // what the request was authenticated for
	_, err := acme.Get(ctx, "anything")
	fmt.Println(errors.Is(err, repository.ErrTenantMismatch))
	// Output: true
}

func ExampleWithTally() {
	acme, done := exampleNotes()
	defer done()
	note := &Note{Title: "first"}
	_ = acme.Create(context.Background(), note)

	ctx, tally := repository.WithTally(context.Background())
	_, _ = acme.Get(ctx, note.ID)
	_, _ = acme.Get(ctx, note.ID)
	fmt.Println(tally)
	// Output: 2 requests, 2.00 RU
}

func ExampleWithBudget() {
	acme, done := exampleNotes()
	defer done()
	_, _ = acme.SaveAll(context.Background(), slices.Values(notesFrom(2000)), nil)

	ctx, tally := repository.WithBudget(context.Background(), 10)
	for _, err := range acme.Query(ctx, repository.All()) {
		if err != nil {
			fmt.Println(errors.Is(err, repository.ErrBudget), tally.RequestUnits() < 20)
		}
	}
	// Output: true true
}

func ExampleWithSession() {
	t, done := exampleTest()
	defer done()
	b := setupNotes(t)
	ctx := context.Background()

	n := &Note{Title: "written here"}
	_ = b.acme.Create(ctx, n)
	token := b.notes.SessionToken() // sent along, in a header or a cookie

	// In another process:
	other := newRepository(t, b.container, repository.Config{}).In("acme")
	got, err := other.Get(repository.WithSession(ctx, token), n.ID)
	fmt.Println(got.Title, err)
	// Output: written here <nil>
}

// The tenant that a request was authenticated for is found where it is needed.
func ExampleTenantFrom() {
	ctx := repository.WithTenant(context.Background(), "acme")
	tenant, bound := repository.TenantFrom(ctx)
	fmt.Println(tenant, bound)
	// Output: acme true
}

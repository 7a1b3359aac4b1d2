package repository_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Every verb returns an *Error: what was done to what, why it failed, and what
// to do about it.
func ExampleError() {
	acme, done := exampleNotes()
	defer done()
	err := acme.Create(context.Background(), &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: "a/b"}}})

	var failed *repository.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Op, failed.EntityType, "of", failed.TenantID)
	}
	switch {
	case errors.Is(err, repository.ErrConflict):
		fmt.Println("the id is taken")
	case errors.Is(err, repository.ErrInvalid):
		fmt.Println("the input is wrong, and nothing was sent")
	}
	// Output:
	// Create Note of acme
	// the input is wrong, and nothing was sent
}

// A document that another program wrote does not fit the struct: it is reported
// by its id, and the others come all the same.
func ExampleDecodeError() {
	acme, notes, done := exampleScopeAndContainer()
	defer done()
	ctx := context.Background()
	_ = acme.Create(ctx, &Note{Title: "fits"})
	key := azcosmos.NewPartitionKeyString("acme").AppendString("Note")
	_, _ = notes.CreateItem(ctx, key, []byte(`{"id":"odd","tenantId":"acme","entityType":"Note","title":7}`), nil)

	for note, err := range acme.Query(ctx, repository.All()) {
		var undecodable *repository.DecodeError
		switch {
		case errors.As(err, &undecodable):
			fmt.Println("passed over:", undecodable.ID)
		case err != nil:
			fmt.Println(err) // of the service: it ends the loop
		default:
			fmt.Println("read:", note.Title)
		}
	}
	// Unordered output:
	// read: fits
	// passed over: odd
}

// The same call may succeed later, unless the error says otherwise. An ambiguous
// write may have been applied: it is read before it is repeated.
func ExampleIsRetryable() {
	for _, err := range []error{repository.ErrThrottled, repository.ErrNotFound, repository.ErrAmbiguous} {
		fmt.Println(repository.IsRetryable(err))
	}
	// Output:
	// true
	// false
	// false
}

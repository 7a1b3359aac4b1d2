package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

// A bulk that goes on is given the whole input again. One that is shorter than
// what was done with is not the same, and passing it over would say that all of
// it is stored.
func TestABulkIsNotResumedWithLess(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	notes := make([]*Note, 300)
	ids := make([]string, len(notes))
	for i := range notes {
		notes[i] = &Note{}
		ids[i] = fmt.Sprint("n", i)
		notes[i].ID = ids[i]
	}
	for _, verb := range []struct {
		name string
		run  func(ctx context.Context, n int, opts *repository.BulkOptions) (*repository.Receipt, error)
	}{
		{"SaveAll", func(ctx context.Context, n int, opts *repository.BulkOptions) (*repository.Receipt, error) {
			return b.acme.SaveAll(ctx, slices.Values(notes[:n]), opts)
		}},
		{"DeleteAll", func(ctx context.Context, n int, opts *repository.BulkOptions) (*repository.Receipt, error) {
			return b.acme.DeleteAll(ctx, slices.Values(ids[:n]), opts)
		}},
	} {
		ctx, stop := context.WithCancel(t.Context())
		token, done := "", 0
		_, err := verb.run(ctx, len(notes), &repository.BulkOptions{Concurrency: 1, Progress: func(p repository.Receipt) {
			if p.Done > 0 && token == "" {
				token, done = p.Resume, p.Done
				stop()
			}
		}})
		if err == nil || done == 0 || done == len(notes) {
			t.Fatalf("%s: stopped after %d: %v", verb.name, done, err)
		}
		for _, n := range []int{0, 1, done - 1} {
			receipt, err := verb.run(t.Context(), n, &repository.BulkOptions{Resume: token})
			if !errors.Is(err, repository.ErrInvalid) || receipt == nil || receipt.Succeeded != 0 || receipt.Resume == "" {
				t.Fatalf("%s of %d, where %d were done with: %+v, %v", verb.name, n, done, receipt, err)
			}
			token = receipt.Resume // it is still good
		}
		receipt, err := verb.run(t.Context(), len(notes), &repository.BulkOptions{Resume: token})
		if err != nil || receipt.Skipped != done || receipt.Succeeded != len(notes)-done {
			t.Errorf("%s of all: %d passed over, %d succeeded: %v", verb.name, receipt.Skipped, receipt.Succeeded, err)
		}
		stop()
	}
}

package repository_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

func TestQueryForAnIDIsAPointRead(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	n := &Note{Title: "x"}
	must(t, b.acme.Create(t.Context(), n))
	emulatortest.AssertPointRead(t, b.emulator, func(ctx context.Context) {
		got, err := b.acme.First(ctx, repository.Where(repository.Eq("id", n.Ref())))
		must(t, err)
		if got.Title != "x" || got.ETag != n.ETag {
			t.Errorf("read %+v", got)
		}
	})
	if e, err := b.acme.Explain(repository.Where(repository.Eq("id", n.ID))); err != nil || e.Scope != "point read" {
		t.Errorf("explained as %q, %v", e.Scope, err)
	}
	for _, id := range []string{"nobody", "", "a/b"} {
		if _, err := b.acme.First(t.Context(), repository.Where(repository.Eq("id", id))); !errors.Is(err, repository.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	// Another condition, or a scope that is no single partition, needs a query.
	mark := b.emulator.Requests().Mark()
	if _, err := b.acme.First(t.Context(), repository.Where(repository.Eq("id", n.ID), repository.Eq("title", "y"))); !errors.Is(err, repository.ErrNotFound) {
		t.Errorf("with a condition that does not hold: %v", err)
	}
	if _, err := b.notes.AllTenants().First(t.Context(), repository.Where(repository.Eq("id", n.ID))); err != nil {
		t.Errorf("across tenants: %v", err)
	}
	for _, e := range b.emulator.Requests().Since(mark) {
		if e.Operation == emulator.ReadItem {
			t.Errorf("a point read in place of a query: %+v", e)
		}
	}
}

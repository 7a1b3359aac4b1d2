package repository_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

// A write whose answer was lost is not sent again where that would undo what
// another writer did in between: bring back what it deleted, overwrite what it
// wrote, delete what it created.
func TestALostWriteDoesNotUndoAnothersWork(t *testing.T) {
	t.Parallel()
	type scope = *repository.Scope[Note]
	remove := func(ctx context.Context, theirs scope, id string) error { return theirs.Delete(ctx, id, nil) }
	overwrite := func(ctx context.Context, theirs scope, id string) error {
		n := &Note{Title: "theirs"}
		n.ID = id
		return theirs.Upsert(ctx, n)
	}
	recreate := func(ctx context.Context, theirs scope, id string) error {
		n := &Note{Title: "theirs"}
		n.ID = id
		return theirs.Create(ctx, n)
	}
	create := func(ctx context.Context, mine scope, _ *Note) error {
		n := &Note{Title: "mine"}
		n.ID = "new"
		return mine.Create(ctx, n)
	}
	for name, row := range map[string]struct {
		write  func(ctx context.Context, mine scope, n *Note) error
		others func(ctx context.Context, theirs scope, id string) error
		want   string // the title in the end; empty for no document
	}{
		"Create, then deleted":     {create, remove, ""},
		"Create, then overwritten": {create, overwrite, "theirs"},
		"SaveAll, then deleted":    {func(ctx context.Context, mine scope, _ *Note) error { return saveNew(ctx, mine) }, remove, ""},
		"Batch.Create, then deleted": {func(ctx context.Context, mine scope, _ *Note) error {
			n := &Note{Title: "mine"}
			n.ID = "new"
			return mine.Batch().Create(n).Commit(ctx)
		}, remove, ""},
		"Upsert, then overwritten": {func(ctx context.Context, mine scope, n *Note) error {
			m := *n
			m.Title = "mine"
			return mine.Upsert(ctx, &m)
		}, overwrite, "theirs"},
		"Upsert, then deleted": {func(ctx context.Context, mine scope, n *Note) error {
			m := *n
			m.Title = "mine"
			return mine.Upsert(ctx, &m)
		}, remove, ""},
		"Patch of a field, then overwritten": {func(ctx context.Context, mine scope, n *Note) error {
			_, err := mine.Patch(ctx, n.ID, repository.Set("/title", "mine"))
			return err
		}, overwrite, "theirs"},
		"Patch at the end of an array, then overwritten": {func(ctx context.Context, mine scope, n *Note) error {
			_, err := mine.Patch(ctx, n.ID, repository.Set("/tags/-", "mine"))
			return err
		}, overwrite, "theirs"},
		"Delete, then created anew": {func(ctx context.Context, mine scope, n *Note) error { return mine.Delete(ctx, n.ID, nil) }, recreate, "theirs"},
		"Delete of an etag, then created anew": {func(ctx context.Context, mine scope, n *Note) error {
			return mine.Delete(ctx, n.ID, &repository.DeleteOptions{ETag: n.ETag})
		}, recreate, "theirs"},
		"Batch.Delete, then created anew": {func(ctx context.Context, mine scope, n *Note) error {
			return mine.Batch().Delete(n.ID, "").Commit(ctx)
		}, recreate, "theirs"},
		"DeleteAll, then created anew": {func(ctx context.Context, mine scope, n *Note) error {
			_, err := mine.DeleteAll(ctx, slices.Values([]string{n.ID}), nil)
			return err
		}, recreate, "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, ctx := setupNotes(t), t.Context()
			lost := &losing{}
			container, err := b.emulator.Client(repository.ClientOptions(&azcosmos.ClientOptions{
				ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{lost}},
			})).NewContainer(emulatortest.DatabaseID(t, b.client, "db"), "main")
			must(t, err)
			mine := newRepository(t, container, repository.Config{}).In("acme")
			n := &Note{Title: "before", Tags: []string{"a"}}
			must(t, mine.Create(ctx, n))
			id := n.ID
			if row.want == "" && name != "Upsert, then deleted" || name == "Create, then overwritten" {
				id = "new"
			}
			lost.then = func() {
				if err := row.others(ctx, b.acme, id); err != nil {
					t.Errorf("the other writer: %v", err)
				}
			}
			lost.armed.Store(true)
			if err := row.write(ctx, mine, n); !errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
				t.Errorf("the lost write: %v", err)
			}
			got, err := b.acme.Get(ctx, id)
			switch {
			case row.want == "" && !errors.Is(err, repository.ErrNotFound):
				t.Errorf("it came back: %+v, %v", got, err)
			case row.want != "" && (err != nil || got.Title != row.want):
				t.Errorf("the other writer's document is %+v, %v", got, err)
			}
		})
	}
}

func saveNew(ctx context.Context, mine *repository.Scope[Note]) error {
	n := &Note{Title: "mine"}
	n.ID = "new"
	_, err := mine.SaveAll(ctx, slices.Values([]*Note{n}), nil)
	return err
}

// Once an attempt was lost, no later refusal is definite: nothing but evidence
// says that nothing was changed.
func TestOnceLostAlwaysLost(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]emulator.Fault{
		"forbidden":    emulator.Answer(http.StatusForbidden, 0),
		"unavailable":  emulator.Answer(http.StatusServiceUnavailable, 0),
		"unauthorized": emulator.Answer(http.StatusUnauthorized, 0),
		"bad request":  emulator.Answer(http.StatusBadRequest, 0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emulatortest.InProcess(t, "it makes requests fail")
			b, ctx := setupNotes(t), t.Context()
			n := &Note{Title: "x"}
			must(t, b.acme.Create(ctx, n))
			for verb, write := range map[string]func() error{
				"Create":  func() error { return b.acme.Create(ctx, &Note{Title: "y"}) },
				"Replace": func() error { m := *n; return b.acme.Replace(ctx, &m) },
				"Patch": func() error {
					_, err := b.acme.Patch(ctx, n.ID, repository.Increment("/count", 1))
					return err
				},
				"Delete": func() error { return b.acme.Delete(ctx, n.ID, nil) },
				"Batch":  func() error { return b.acme.Batch().Create(&Note{}).Create(&Note{}).Commit(ctx) },
				"SaveAll": func() error {
					receipt, err := b.acme.SaveAll(ctx, slices.Values(notesFrom(3)), nil)
					if receipt != nil && receipt.Failed > 0 {
						t.Errorf("SaveAll: %d are said to have failed", receipt.Failed)
					}
					return err
				},
			} {
				b.emulator.Fault(emulator.Cut().AfterEffect().On(emulator.CreateItem, emulator.ReplaceItem, emulator.PatchItem, emulator.DeleteItem, emulator.TransactionalBatch))
				b.emulator.Fault(later.Nth(2).Keep())
				err := write()
				b.emulator.Faults().Clear()
				if !errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err) {
					t.Errorf("%s: %v", verb, err)
				}
				if verb == "Replace" || verb == "Patch" || verb == "Delete" {
					fresh := &Note{Title: "x"}
					must(t, b.acme.Create(ctx, fresh))
					n = fresh
				}
			}
		})
	}
}

package code

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

func TestChildren(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx, comments := t.Context(), s.comments
	note := note(t, s.notes.In("acme"), "first", 1)
	discuss := func() error {
		// snippet: children
		if err := comments.Under(note).Create(ctx, &Comment{Body: "first"}); err != nil {
			return err
		}
		for c, err := range comments.Under(note).Query(ctx, repository.All().OrderByDesc("_ts")) {
			if err != nil {
				return err
			}
			fmt.Println(c.Body)
		}
		// end snippet
		return nil
	}
	if err := discuss(); err != nil {
		t.Fatal(err)
	}
	if err := s.notes.In("acme").Delete(ctx, note.ID, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := comments.UnderID("acme", note.Ref()).Count(ctx, repository.All()); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// snippet: buckets
var marked = fx.Options(
	registry.Entity[Note](),
	registry.Child[Comment, Note](parented.Restrict), // a note with comments can't be deleted
	registry.Buckets[Mark, Note](parented.Cascade),   // 100 marks to a document; they go with the note
)

// end snippet

func TestBuckets(t *testing.T) {
	t.Parallel()
	var (
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
		marks    *parented.Buckets[Mark, Note]
	)
	emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{Database: "notes", Provision: true}),
		registry.Entity[Person](), marked, fx.Populate(&notes, &comments, &marks),
	))
	ctx := t.Context()
	note := note(t, notes.In("acme"), "first", 1)
	if _, err := marks.Under(note).Append(ctx, Mark{Page: 3}); err != nil {
		t.Fatal(err)
	}
	if err := comments.Under(note).Create(ctx, &Comment{Body: "stays"}); err != nil {
		t.Fatal(err)
	}
	if err := notes.In("acme").Delete(ctx, note.ID, nil); !errors.Is(err, repository.ErrHasChildren) {
		t.Error(err)
	}
}

// snippet: lookups
var colors = fx.Options(
	registry.Module(registry.Config{Database: "notes", Provision: true, Containers: []registry.Container{
		{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}},
	}}),
	registry.Entity[LookupValue](registry.In("lookups")),
)

// end snippet

func TestLookups(t *testing.T) {
	t.Parallel()
	var lookups *repository.Repository[LookupValue]
	emulatortest.FX(t, fx.Options(colors, fx.Populate(&lookups)))
	if err := lookups.In("acme", "color").Create(t.Context(), &LookupValue{Label: "red"}); err != nil {
		t.Fatal(err)
	}
}

// snippet: soft
var kept = registry.Entity[Note](registry.SoftDelete(30 * 24 * time.Hour))

// end snippet

func TestSoftDelete(t *testing.T) {
	t.Parallel()
	var notes *repository.Repository[Note]
	emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{Database: "notes", Provision: true}),
		registry.Entity[Person](), kept, fx.Populate(&notes),
	))
	ctx, acme := t.Context(), notes.In("acme")
	n := note(t, acme, "first", 1)
	remove := func(ctx context.Context, id string) error {
		// snippet: delete
		plan, err := acme.PlanDelete(ctx, id) // what would go, and about what it would cost
		if err != nil {
			return err
		}
		fmt.Println(plan)
		if err := acme.Delete(ctx, id, nil); err != nil {
			return err
		}
		return acme.Restore(ctx, id) // and Purge ends it sooner
		// end snippet
	}
	if err := remove(ctx, n.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := acme.Get(ctx, n.ID); err != nil {
		t.Error(err)
	}
}

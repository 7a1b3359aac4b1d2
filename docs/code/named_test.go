package code

import (
	"context"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// What docs/guide.md says of a type with a former name: each name has a partition, and a document keeps the name under which it was
// created, whatever writes it.
func TestDocumentsKeepTheirName(t *testing.T) {
	t.Parallel()
	client := emulatortest.New(t).Client(repository.ClientOptions(nil))
	database := emulatortest.DatabaseID(t, client, "notes")
	former := notesNamed(t, client, database)
	n := note(t, former, "first", 1)

	renamed := notesNamed(t, client, database, registry.Named("note", "Note"))
	if e, err := renamed.Explain(repository.All()); err != nil || e.Scope != "2 partitions" {
		t.Errorf("%q, %v", e.Scope, err)
	}
	again := *n
	again.ETag, again.EntityType = "", ""
	for _, verb := range []struct {
		name  string
		write func() error
	}{
		{"Mutate", func() error {
			_, err := renamed.Mutate(t.Context(), n.ID, func(n *Note) error { n.Stars++; return nil })
			return err
		}},
		{"Upsert", func() error { return renamed.Upsert(t.Context(), &again) }},
		// After the Upsert, which gives the etag.
		{"SaveAll", func() error { _, err := renamed.SaveAll(t.Context(), slices.Values([]*Note{&again}), nil); return err }},
	} {
		if err := verb.write(); err != nil {
			t.Error(verb.name, err)
		}
		if got, err := renamed.Get(t.Context(), n.ID); err != nil || got.EntityType != "Note" {
			t.Errorf("%s: %v, %v", verb.name, got, err)
		}
	}
	if err := renamed.Delete(t.Context(), n.ID, nil); err != nil {
		t.Fatal(err)
	}
	again.ETag, again.EntityType = "", ""
	if err := renamed.Create(t.Context(), &again); err != nil || again.EntityType != "note" {
		t.Errorf("%q, %v", again.EntityType, err)
	}
}

// notesNamed is an application of notes alone, in a database that others use too.
func notesNamed(t *testing.T, client *azcosmos.Client, database string, opts ...registry.Option) *repository.Scope[Note] {
	t.Helper()
	var notes *repository.Repository[Note]
	app := fx.New(
		fx.NopLogger,
		fx.Supply(client),
		registry.Module(registry.Config{Database: database, Provision: true}),
		registry.Entity[Person](),
		registry.Entity[Note](opts...),
		fx.Populate(&notes),
	)
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return notes.In("acme")
}

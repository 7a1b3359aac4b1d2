package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Book struct {
	tenantitem.TenantItem[Book]
	Next    tenantitem.Ref[Book]     `json:"next,omitempty"`
	Authors []tenantitem.Ref[Writer] `json:"authors,omitempty"`
	Edition struct {
		EditorID tenantitem.Ref[Writer] `json:"editorId,omitempty"`
	} `json:"edition"`
}

type Writer struct {
	tenantitem.TenantItem[Writer]
	Name string `json:"name"`
}

func openBooks(t *testing.T) (*registry.Database, *repository.Repository[Book], *repository.Repository[Writer]) {
	t.Helper()
	client := emulatortest.Client(t)
	plan := newPlan(t, registry.Config{Database: "books", Provision: true},
		registry.EntityOf[Book](registry.CheckRefs()), registry.EntityOf[Writer](registry.SoftDelete(time.Hour)))
	db, err := registry.Open(client, plan)
	must(t, err)
	must(t, db.Prepare(t.Context()))
	books, err := registry.RepositoryOf[Book](db)
	must(t, err)
	writers, err := registry.RepositoryOf[Writer](db)
	must(t, err)
	return db, books, writers
}

func TestReferencesAreLookedForOnWrite(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, books, writers := openBooks(t)
	ada, bob := &Writer{Name: "Ada"}, &Writer{Name: "Bob"}
	must(t, writers.In("acme").Create(ctx, ada))
	must(t, writers.In("acme").Create(ctx, bob))

	good := &Book{Authors: []tenantitem.Ref[Writer]{ada.Ref(), bob.Ref(), ada.Ref()}}
	good.ID = "itself"
	good.Next = good.Ref()
	good.Edition.EditorID = ada.Ref()
	must(t, books.In("acme").Create(ctx, good))

	for field, bad := range map[string]*Book{
		"authors":          {Authors: []tenantitem.Ref[Writer]{ada.Ref(), "nobody"}},
		"next":             {Next: "nobody"},
		"edition.editorId": func() *Book { b := &Book{}; b.Edition.EditorID = "nobody"; return b }(),
	} {
		err := books.In("acme").Create(ctx, bad)
		var dangling *parented.DanglingError
		if !errors.Is(err, repository.ErrDanglingRef) || !errors.As(err, &dangling) || dangling.Field != field || dangling.ID != "nobody" {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := books.In("globex").Create(ctx, &Book{Authors: []tenantitem.Ref[Writer]{ada.Ref()}}); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("another tenant's writer: %v", err)
	}
	must(t, writers.In("acme").Delete(ctx, bob.ID, nil))
	late := &Book{Authors: []tenantitem.Ref[Writer]{bob.Ref()}}
	if err := books.In("acme").Create(ctx, late); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("a deleted writer: %v", err)
	}
	must(t, writers.In("acme").Restore(ctx, bob.ID))
	must(t, books.In("acme").Save(ctx, good))

	many := make([]*Book, 300)
	for i := range many {
		many[i] = &Book{Authors: []tenantitem.Ref[Writer]{[]tenantitem.Ref[Writer]{ada.Ref(), bob.Ref()}[i%2]}}
	}
	tallied, tally := repository.WithTally(ctx)
	receipt, err := books.In("acme").SaveAll(tallied, slices.Values(many), nil)
	must(t, err)
	if receipt.Succeeded != 300 || tally.Requests() > 10 {
		t.Errorf("%d saved in %d requests", receipt.Succeeded, tally.Requests())
	}
}

// A reference whose target went after it was written is no reason to refuse a write that leaves it where it is.
func TestAReferenceThatStandsIsLeft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, books, writers := openBooks(t)
	ada, bob := &Writer{Name: "Ada"}, &Writer{Name: "Bob"}
	must(t, writers.In("acme").Create(ctx, ada))
	must(t, writers.In("acme").Create(ctx, bob))
	book := &Book{Authors: []tenantitem.Ref[Writer]{ada.Ref(), bob.Ref()}}
	book.Edition.EditorID = bob.Ref()
	must(t, books.In("acme").Create(ctx, book))
	must(t, writers.In("acme").Delete(ctx, bob.ID, nil))

	acme := books.In("acme")
	must(t, acme.Save(ctx, book))
	must(t, acme.Replace(ctx, book))
	must(t, acme.Batch().Replace(book).Commit(ctx))
	_, err := acme.SaveAll(ctx, slices.Values([]*Book{book}), nil)
	must(t, err)
	_, err = acme.Mutate(ctx, book.ID, func(b *Book) error { slices.Reverse(b.Authors); return nil })
	must(t, err)
	book, err = acme.Get(ctx, book.ID)
	must(t, err)
	must(t, acme.Upsert(ctx, book))

	book.Next, book.Edition.EditorID, book.Authors = "nobody", "", nil
	if err := acme.Save(ctx, book); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("a new reference to nobody: %v", err)
	}
	book.Next = ""
	must(t, acme.Save(ctx, book))
	book.Edition.EditorID = bob.Ref()
	if err := acme.Save(ctx, book); !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("a reference that was taken away and comes back: %v", err)
	}
}

// So it is in a container whose key the documents fill for themselves, where an id tells no partition.
func TestAReferenceThatStandsIsLeftInALayout(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, second := range map[string]layout.KeySource{"a constant": layout.Constant("all"), "several fields": layout.Format("%s-%s", "tenantId", "title")} {
		cfg := registry.Config{Database: "books", Provision: true, Containers: []registry.Container{{ID: "shelf", PartitionKey: []string{"/tenantId", "/pk"}}}}
		plan := newPlan(t, cfg, registry.EntityOf[Pamphlet](registry.CheckRefs(), registry.In("shelf"), registry.WithLayout(layout.Layout{Key: []layout.KeySource{layout.FromTenant(), second}})), registry.EntityOf[Writer]())
		db, err := registry.Open(emulatortest.Client(t), plan)
		must(t, err)
		must(t, db.Prepare(ctx))
		pamphlets, err := registry.RepositoryOf[Pamphlet](db)
		must(t, err)
		writers, err := registry.RepositoryOf[Writer](db)
		must(t, err)
		ada := &Writer{Name: "Ada"}
		must(t, writers.In("acme").Create(ctx, ada))
		p := &Pamphlet{Title: "x", AuthorID: ada.Ref()}
		must(t, pamphlets.In("acme").Create(ctx, p))
		must(t, writers.In("acme").Delete(ctx, ada.ID, nil))
		if err := pamphlets.In("acme").Replace(ctx, p); err != nil {
			t.Errorf("%s: a reference that stands: %v", name, err)
		}
		p.AuthorID = "nobody"
		if err := pamphlets.In("acme").Replace(ctx, p); !errors.Is(err, repository.ErrDanglingRef) {
			t.Errorf("%s: a new reference to nobody: %v", name, err)
		}
	}
}

type Pamphlet struct {
	tenantitem.TenantItem[Pamphlet]
	Title    string                 `json:"title"`
	AuthorID tenantitem.Ref[Writer] `json:"authorId,omitempty"`
}

// What one transaction creates may refer to each other, and not to what it deletes.
func TestReferencesWithinOneTransaction(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := registry.Config{Database: "books", Provision: true, Containers: []registry.Container{{ID: "shelf", PartitionKey: []string{"/tenantId"}}}}
	plan := newPlan(t, cfg, registry.EntityOf[Book](registry.CheckRefs(), registry.In("shelf")), registry.EntityOf[Writer](registry.In("shelf")))
	db, err := registry.Open(emulatortest.Client(t), plan)
	must(t, err)
	must(t, db.Prepare(ctx))
	books, err := registry.RepositoryOf[Book](db)
	must(t, err)
	writers, err := registry.RepositoryOf[Writer](db)
	must(t, err)
	ada := &Writer{Name: "Ada"}
	ada.ID = "ada"
	first, second := &Book{Authors: []tenantitem.Ref[Writer]{"ada"}, Next: "second"}, &Book{}
	first.ID, second.ID = "first", "second"
	must(t, partition.Commit(ctx, books.In("acme").Batch().Create(first).Create(second), writers.In("acme").Batch().Create(ada)))

	third := &Book{Authors: []tenantitem.Ref[Writer]{"ada"}}
	err = partition.Commit(ctx, books.In("acme").Batch().Create(third), writers.In("acme").Batch().Delete("ada", ""))
	if !errors.Is(err, repository.ErrDanglingRef) {
		t.Errorf("a reference to what the transaction deletes: %v", err)
	}
}

func TestCheckedReferencesNeedRegisteredTypes(t *testing.T) {
	t.Parallel()
	_, err := registry.NewPlan(registry.Config{Database: "books"}, []registry.Declaration{registry.EntityOf[Book](registry.CheckRefs())})
	if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "registry.Entity[Writer]()") {
		t.Errorf("%v", err)
	}
}

func TestSoftDeleteNeedsATimeToLive(t *testing.T) {
	t.Parallel()
	off := registry.Config{Database: "books", Containers: []registry.Container{{ID: "writers", DefaultTTL: registry.TTLOff}}}
	_, err := registry.NewPlan(off, []registry.Declaration{registry.EntityOf[Writer](registry.In("writers"), registry.SoftDelete(time.Hour))})
	if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "SoftDelete") {
		t.Errorf("%v", err)
	}
	for _, retain := range []time.Duration{0, -time.Second, time.Millisecond, time.Second + time.Millisecond, 1 << 62} {
		if _, err := registry.NewPlan(registry.Config{Database: "books"}, []registry.Declaration{registry.EntityOf[Writer](registry.SoftDelete(retain))}); !errors.Is(err, tenantitem.ErrInvalid) {
			t.Errorf("SoftDelete(%v): %v", retain, err)
		}
	}
}

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
	if err := books.In("acme").Save(ctx, good); !errors.Is(err, repository.ErrDanglingRef) {
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

func TestCheckedReferencesNeedRegisteredTypes(t *testing.T) {
	t.Parallel()
	plan := newPlan(t, registry.Config{Database: "books"}, registry.EntityOf[Book](registry.CheckRefs()))
	_, err := registry.Open(newClient(t), plan)
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

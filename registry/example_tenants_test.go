package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// exampleDatabase opens a database with these entity types.
func exampleDatabase(declarations ...registry.Declaration) *registry.Database {
	client, err := exampleClient()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := registry.NewPlan(registry.Config{Database: "notes", Provision: true, Logger: quiet()}, declarations)
	if err != nil {
		log.Fatal(err)
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Prepare(context.Background()); err != nil {
		log.Fatal(err)
	}
	return db
}

// A tenant moves: its documents are written to a file, erased, and read back.
func ExampleTenants() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note]())
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		if err := notes.In("acme").Create(ctx, &Note{Title: fmt.Sprint("note ", i)}); err != nil {
			log.Fatal(err)
		}
	}
	tenants := db.Tenants()
	stats, err := tenants.Stats(ctx, "acme", nil)
	fmt.Println("stored:", stats.Documents, err)

	var file bytes.Buffer
	exported, err := tenants.Export(ctx, "acme", &file, nil)
	fmt.Println("exported:", exported.Documents, err)
	erased, err := tenants.Erase(ctx, "acme", nil)
	fmt.Println("erased:", erased.Removed, erased.Complete, err)
	imported, err := tenants.Import(ctx, "acme", &file, nil)
	fmt.Println("imported:", imported.Created, err)
	// Output:
	// stored: 3 <nil>
	// exported: map[Note:3] <nil>
	// erased: map[Note:3] true <nil>
	// imported: 3 <nil>
}

func ExampleSoftDelete() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note](registry.SoftDelete(30 * 24 * time.Hour)))
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	acme, note := notes.In("acme"), &Note{Title: "kept"}
	if err := errors.Join(acme.Create(ctx, note), acme.Delete(ctx, note.ID, nil)); err != nil {
		log.Fatal(err)
	}
	_, err = acme.Get(ctx, note.ID)
	fmt.Println("deleted:", errors.Is(err, repository.ErrNotFound))
	fmt.Println("restored:", acme.Restore(ctx, note.ID))
	if err := acme.Delete(ctx, note.ID, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println("purged:", acme.Purge(ctx, note.ID))
	fmt.Println("gone:", errors.Is(acme.Restore(ctx, note.ID), repository.ErrNotFound))
	// Output:
	// deleted: true
	// restored: <nil>
	// purged: <nil>
	// gone: true
}

func ExampleCheckRefs() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Writer](), registry.EntityOf[Book](registry.CheckRefs()))
	books, err := registry.RepositoryOf[Book](db)
	if err != nil {
		log.Fatal(err)
	}
	err = books.In("acme").Create(ctx, &Book{Authors: []tenantitem.Ref[Writer]{"nobody"}})
	fmt.Println(errors.Is(err, repository.ErrDanglingRef))
	// Output: true
}

// An export that was stopped goes on in the file that it began. Its digest
// tells whether a tenant, or a copy of it, is still the same.
func ExampleTenants_ExportFile() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note]())
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	if err := notes.In("acme").Create(ctx, &Note{Title: "first"}); err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "export")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "acme.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	var target registry.ExportTarget = file
	opts := &registry.ExportOptions{
		RequestUnitsPerSecond: 400, // of what the containers have
		Progress: func(p registry.TenantProgress) {
			quiet().Info("exporting", "container", p.Container, "documents", p.Documents)
		},
	}
	_, err = db.Tenants().ExportFile(ctx, "acme", target, opts)
	fmt.Println(err)
	again, err := db.Tenants().ExportFile(ctx, "acme", target, opts)
	fmt.Println("written before:", again.Resumed, "of", again.Documents["Note"], err)
	digest, err := db.Tenants().Digest(ctx, "acme")
	fmt.Println("the same:", digest == again.Digest, err)
	// Output:
	// <nil>
	// written before: 1 of 1 <nil>
	// the same: true <nil>
}

// A clone: the lines name one tenant and are stored under another. What became
// of each line is told by its number.
func ExampleTenants_Import() {
	db := exampleDatabase(registry.EntityOf[Note]())
	lines := strings.NewReader(`{"id":"1","tenantId":"acme","entityType":"Note","title":"first"}
{"id":"2","tenantId":"acme","entityType":"Note","title":7}
`)
	imported, err := db.Tenants().Import(context.Background(), "sandbox", lines, &registry.ImportOptions{
		From: "acme",
		Line: func(l registry.ImportedLine) {
			fmt.Println("line", l.Line, l.Outcome)
		},
	})
	fmt.Println(imported.Created, imported.Refused, errors.Is(err, repository.ErrInvalid))
	// Output:
	// line 2 refused
	// line 1 created
	// 1 1 true
}

// What a tenant has, by entity type, and which of its logical partitions come
// near the limit of 20 GB; here one of 200 bytes, to see some.
func ExampleTenants_Stats() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note]())
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		if err := notes.In("acme").Create(ctx, &Note{Title: "first"}); err != nil {
			log.Fatal(err)
		}
	}
	stats, err := db.Tenants().Stats(ctx, "acme", &registry.StatsOptions{Limit: 200})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range stats.EntityTypes { // registry.EntityTypeStats
		fmt.Println(s.Documents, s.EntityType)
	}
	for _, p := range stats.Full { // registry.PartitionStats
		fmt.Println("full:", p.Container, p.Key)
	}
	// Output:
	// 3 Note
	// full: documents [acme Note]
}

// A predicate of one's own chooses what is erased: here, drafts.
func ExampleTenants_Erase() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note]())
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	for _, title := range []string{"draft", "final"} {
		if err := notes.In("acme").Create(ctx, &Note{Title: title}); err != nil {
			log.Fatal(err)
		}
	}
	draft := func(d registry.ErasedDocument) bool {
		var note struct{ Title string }
		return d.EntityType == "Note" && json.Unmarshal(d.Document, &note) == nil && note.Title == "draft"
	}
	certificate, err := db.Tenants().Erase(ctx, "acme", &registry.EraseOptions{Where: draft})
	fmt.Println(certificate.Removed, certificate.Partial, certificate.Verify(), err)
	// Output: map[Note:1] true true <nil>
}

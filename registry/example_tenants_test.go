package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// exampleDatabase opens a database with these species.
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

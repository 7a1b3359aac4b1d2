package registry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// The plan says what lives where. It is made and checked without a connection.
func ExamplePlan() {
	cfg := registry.Config{Database: "notes", Logger: quiet(), Containers: []registry.Container{{
		ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}, DefaultTTL: 30 * 24 * time.Hour,
		Throughput: registry.Throughput{AutoscaleMax: 1000}, // RU/s; it begins at a tenth of them
	}}}
	fmt.Println("containers that name no other:", cfg.WithDefaults().DefaultContainer)

	plan, err := registry.NewPlan(cfg, []registry.Declaration{
		registry.EntityOf[Note](),
		registry.EntityOf[Lookup](registry.In("lookups"), registry.TTL(time.Hour)),
	})
	if err != nil {
		log.Fatal(err)
	}
	plan.Logger().Info("checked", "database", plan.Database())
	for _, c := range plan.Containers() {
		fmt.Println(plan.Database(), c.ID, c.PartitionKey)
	}
	// Output:
	// containers that name no other: documents
	// notes lookups [/tenantId /lookupType]
	// notes documents [/tenantId /entityType]
}

// A comment names its note by the id alone, which the notes' key does not make unique in the tenant.
func ExampleUniqueIDs() {
	cfg := registry.Config{Database: "notes", Containers: []registry.Container{{ID: "titled", PartitionKey: []string{"/tenantId", "/title"}}}}
	for _, opts := range [][]registry.Option{
		{registry.In("titled")},
		{registry.In("titled"), registry.UniqueIDs()}, // Grove makes them
	} {
		plan, err := registry.NewPlan(cfg, []registry.Declaration{
			registry.EntityOf[Note](opts...), registry.ChildOf[Comment, Note](parented.Cascade),
		})
		if err != nil {
			log.Fatal(err)
		}
		client, err := exampleClient()
		if err != nil {
			log.Fatal(err)
		}
		_, err = registry.Open(client, plan)
		fmt.Println(errors.Is(err, repository.ErrInvalid))
	}
	// Output:
	// true
	// false
}

// Lookups expire an hour after their last write, unless one has a ttl of its own.
func ExampleTTL() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Lookup](registry.TTL(time.Hour)))
	lookups, err := registry.RepositoryOf[Lookup](db)
	if err != nil {
		log.Fatal(err)
	}
	hour, forever := &Lookup{LookupType: "color"}, &Lookup{LookupType: "color"}
	never := -1
	forever.TTL = &never
	fmt.Println(lookups.In("acme").Create(ctx, hour), lookups.In("acme").Create(ctx, forever))
	fmt.Println(*hour.TTL, *forever.TTL)
	// Output:
	// <nil> <nil>
	// 3600 -1
}

// Documents of another team, under its own names.
func ExampleWithLayout() {
	plan, err := registry.NewPlan(registry.Config{
		Database:   "theirs",
		Containers: []registry.Container{{ID: "notes", PartitionKey: []string{"/tenant_id"}}},
	}, []registry.Declaration{
		registry.EntityOf[Note](registry.In("notes"), registry.WithLayout(layout.Layout{
			Names: map[string]string{"tenantId": "tenant_id", "entityType": "entity_type"},
		})),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Entities()[0].Container, plan.Entities()[0].PartitionKey)
	// Output: notes [/tenant_id]
}

// Entities with declared copies need what keeps them: denorm's extension.
func ExampleExtension() {
	cfg := registry.Config{Database: "tasks", Logger: quiet()}
	entities := []registry.Declaration{registry.EntityOf[Person](), registry.EntityOf[Task]()}
	_, err := registry.NewPlan(cfg, entities)
	fmt.Println("without it:", errors.Is(err, tenantitem.ErrInvalid))

	copies := denorm.New(denorm.Config{})
	keeps := copies.Extension() // a registry.Extension
	plan, err := registry.NewPlan(cfg, entities, keeps)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Containers() {
		fmt.Println(c.ID, c.PartitionKey)
	}
	// Output:
	// without it: true
	// documents [/tenantId /entityType]
	// grove-leases [/id]
}

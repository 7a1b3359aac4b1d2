package registry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// exampleClient stands for a client of an account: registry.NewClient(ctx, registry.ClientConfig{}).
func exampleClient() (*azcosmos.Client, error) {
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		return nil, err
	}
	return registry.NewClient(context.Background(), registry.ClientConfig{
		Endpoint: "https://" + freshHost() + ".emulator.localhost/",
		Key:      service.Key(),
		Options:  &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}},
	})
}

// freshHost makes a host of its own for each example.
func freshHost() string {
	id, err := tenantitem.NewID()
	if err != nil {
		log.Fatal(err)
	}
	return id
}

// quiet keeps the examples' output to what they print.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func ExampleModule() {
	ctx := context.Background()
	var (
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
	)
	app := fx.New(
		fx.NopLogger,
		fx.Provide(exampleClient),
		registry.Module(registry.Config{Database: "notes", Provision: true, Logger: quiet()}),
		registry.Entity[Note](),
		registry.Child[Comment, Note](parented.Cascade),
		fx.Populate(&notes, &comments),
	)
	if err := app.Start(ctx); err != nil {
		log.Fatal(err)
	}
	note := &Note{Title: "first"}
	if err := notes.In("acme").Create(ctx, note); err != nil {
		log.Fatal(err)
	}
	if err := comments.Under(note).Create(ctx, &Comment{Body: "a comment"}); err != nil {
		log.Fatal(err)
	}
	n, err := comments.Under(note).Count(ctx, repository.All())
	fmt.Println(n, err)
	if err := app.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: 1 <nil>
}

// The same in plain calls.
func ExampleOpen() {
	ctx := context.Background()
	client, err := exampleClient()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := registry.NewPlan(registry.Config{Database: "notes", Provision: true, Logger: quiet()}, []registry.Declaration{
		registry.EntityOf[Note](),
		registry.ChildOf[Comment, Note](parented.Cascade),
	})
	if err != nil {
		log.Fatal(err)
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	err = notes.In("acme").Create(ctx, &Note{Title: "first"})
	fmt.Println(notes.EntityType(), notes.Container().ID(), err)
	// Output: Note documents <nil>
}

// A list of values has a container of its own, in which they expire.
func ExampleIn() {
	plan, err := registry.NewPlan(registry.Config{
		Database: "notes",
		Containers: []registry.Container{{
			ID:           "lookups",
			PartitionKey: []string{"/tenantId", "/lookupType"},
			DefaultTTL:   90 * 24 * time.Hour,
		}},
	}, []registry.Declaration{
		registry.EntityOf[Note](),
		registry.EntityOf[Lookup](registry.In("lookups")),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range plan.Entities() {
		fmt.Println(s.EntityType, "lives in", s.Container, "by", s.PartitionKey)
	}
	// Output:
	// Lookup lives in lookups by [/tenantId /lookupType]
	// Note lives in documents by [/tenantId /entityType]
}

// The Go type Note was called Memo once; what was stored then is still read.
func ExampleNamed() {
	plan, err := registry.NewPlan(registry.Config{Database: "notes"}, []registry.Declaration{
		registry.EntityOf[Note](registry.Named("note", "Memo")),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Entities()[0].EntityType, plan.Entities()[0].Aliases)
	// Output: note [Memo]
}

// Two entities can't share a stored name.
func ExampleNewPlan_conflict() {
	_, err := registry.NewPlan(registry.Config{Database: "notes"}, []registry.Declaration{
		registry.EntityOf[Note](),
		registry.EntityOf[Person](registry.Named("Note")),
	})
	fmt.Println(errors.Is(err, tenantitem.ErrInvalid))
	// Output: true
}

// A container that differs from its registration is reported and left alone.
func ExampleProvision() {
	ctx := context.Background()
	client, err := exampleClient()
	if err != nil {
		log.Fatal(err)
	}
	describe := func(key ...string) *registry.Plan {
		plan, err := registry.NewPlan(registry.Config{
			Database:   "notes",
			Logger:     quiet(),
			Containers: []registry.Container{{ID: "lookups", PartitionKey: key}},
		}, nil)
		if err != nil {
			log.Fatal(err)
		}
		return plan
	}
	_, err = registry.Provision(ctx, client, describe("/tenantId", "/lookupType"))
	fmt.Println(err)
	differences, err := registry.Provision(ctx, client, describe("/tenantId"))
	var drift *registry.DriftError
	fmt.Println(errors.As(err, &drift), differences[0].Registered, "is live as", differences[0].Live)
	// Output:
	// <nil>
	// true /tenantId is live as /tenantId,/lookupType
}

func ExampleDatabase_Health() {
	client, err := exampleClient()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := registry.NewPlan(registry.Config{Database: "notes", Logger: quiet()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(db.Health(context.Background()))
	// Output: registry: database "notes" is not healthy: HTTP 404 Not Found (create it, or set Config.Provision)
}

// The key of a running client is replaced: no restart, and no request fails.
func ExampleAccountKey_Replace() {
	const primary, secondary = "cHJpbWFyeSBrZXk=", "c2Vjb25kYXJ5IGtleQ=="
	key, err := registry.NewAccountKey(primary)
	if err != nil {
		log.Fatal(err)
	}
	cfg := registry.ClientConfig{Endpoint: "https://name.documents.azure.com/", AccountKey: key, ReadyTimeout: -1}
	client, err := registry.NewClient(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	// ... the client is in use, and the vault has another key:
	fmt.Println("replaced:", key.Replace(secondary))
	fmt.Println(key)
	// Output:
	// replaced: <nil>
	// registry.AccountKey(redacted)
}

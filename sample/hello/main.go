package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Note struct {
	tenantitem.TenantItem[Note]
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
}

func main() {
	ctx := context.Background()
	var notes *repository.Repository[Note]
	app := fx.New(
		fx.NopLogger,
		fx.Provide(func() (*azcosmos.Client, error) { return registry.NewClient(ctx, registry.ClientConfig{}) }),
		registry.Module(registry.Config{Database: "notes", Provision: true}),
		registry.Entity[Note](),
		fx.Populate(&notes),
	)
	if err := app.Start(ctx); err != nil {
		log.Fatal(err)
	}

	acme := notes.In("acme")
	note := &Note{Title: "first", Tags: []string{"go"}}
	note.ID = "first" // the same note, however often this runs
	if err := acme.Upsert(ctx, note); err != nil {
		log.Fatal(err)
	}
	for n, err := range acme.Query(ctx, repository.Where(repository.Contains("tags", "go"))) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n.TenantID, n.EntityType, n.Title)
	}
	_, err := notes.In("globex").Get(ctx, note.ID)
	fmt.Println(errors.Is(err, repository.ErrNotFound))

	if err := app.Stop(ctx); err != nil {
		log.Fatal(err)
	}
}

package webstore

import (
	"context"
	"errors"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// snippet: registration
var containers = []registry.Container{
	{ID: "customer", PartitionKey: []string{"/customerId"}},
	{ID: "product", PartitionKey: []string{"/categoryId"}},
	{ID: "productMeta", PartitionKey: []string{"/type"}},
}

var (
	byType     = map[string]string{"entityType": "type"}
	ofCustomer = layout.Layout{Global: true, Names: byType, Key: []layout.KeySource{layout.FromField("id")}}
	ofOrder    = layout.Layout{Global: true, Names: byType}
	ofProduct  = layout.Layout{Global: true, Untyped: layout.AllUntyped}
	ofMeta     = layout.Layout{Global: true, Names: byType}
)

var entities = []registry.Declaration{
	registry.EntityOf[Customer](registry.In("customer"), registry.Named("customer"), registry.WithLayout(ofCustomer)),
	registry.EntityOf[SalesOrder](registry.In("customer"), registry.Named("salesOrder"), registry.WithLayout(ofOrder)),
	registry.EntityOf[Product](registry.In("product"), registry.WithLayout(ofProduct)),
	registry.EntityOf[Category](registry.In("productMeta"), registry.Named("category"), registry.WithLayout(ofMeta)),
	registry.EntityOf[Tag](registry.In("productMeta"), registry.Named("tag"), registry.WithLayout(ofMeta)),
}

// An order and its customer's salesOrderCount change in one transaction.
var counted = denorm.CountOf[Customer, SalesOrder]("salesOrderCount", "customerId")

// end snippet

// Store is the opened shop.
type Store struct {
	Customers  *repository.Repository[Customer]
	Orders     *repository.Repository[SalesOrder]
	Products   *repository.Repository[Product]
	Categories *repository.Repository[Category]
	Tags       *repository.Repository[Tag]
	// Keeper lets renamed categories and tags reach the products.
	Keeper *denorm.Keeper
}

// Open makes what is missing of the three containers and opens them.
func Open(ctx context.Context, client *azcosmos.Client, database string) (*Store, error) {
	copies := denorm.New(denorm.Config{}, counted)
	plan, err := registry.NewPlan(registry.Config{
		Database: database, Provision: true, Containers: containers, Logger: slog.New(slog.DiscardHandler),
	}, entities, copies.Extension())
	if err != nil {
		return nil, err
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		return nil, err
	}
	if err := db.Prepare(ctx); err != nil {
		return nil, err
	}
	var s Store
	var failed [6]error
	s.Customers, failed[0] = registry.RepositoryOf[Customer](db)
	s.Orders, failed[1] = registry.RepositoryOf[SalesOrder](db)
	s.Products, failed[2] = registry.RepositoryOf[Product](db)
	s.Categories, failed[3] = registry.RepositoryOf[Category](db)
	s.Tags, failed[4] = registry.RepositoryOf[Tag](db)
	s.Keeper, failed[5] = copies.Keeper()
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	return &s, nil
}

package parented_test

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// exampleSales is a container in which customers and their orders share a
// logical partition.
func exampleSales() (customers *repository.Repository[Customer], orders *parented.Repository[Order, Customer], done func()) {
	g, done := exampleGrove()
	paths := []string{"/tenantId", "/customerId"}
	_, err := g.database.CreateContainer(context.Background(), azcosmos.ContainerProperties{
		ID:                     "sales",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	check(err)
	container, err := g.database.NewContainer("sales")
	check(err)
	cfg := repository.Config{PartitionKey: paths}
	customers, err = repository.New[Customer](container, cfg)
	check(err)
	orders, err = parented.New[Order](g.forest, customers, container, parented.Config{Config: cfg, Rule: parented.Cascade, UniqueParentIDs: true})
	check(err)
	return customers, orders, done
}

// A customer and the orders of one logical partition come with one query.
func ExamplePartOf_SamePartition() {
	customers, orders, done := exampleSales()
	defer done()
	ctx := context.Background()
	ada := &Customer{CustomerID: "ada", Name: "Ada"}
	ada.ID = "ada"
	check(customers.In("acme", "ada").Create(ctx, ada))
	for total := range 3 {
		check(orders.Under(ada).Create(ctx, &Order{CustomerID: "ada", Total: total}))
	}

	counted, tally := repository.WithTally(ctx)
	dear := orders.Part(repository.Where(repository.Gt("total", 0)), 10).SamePartition()
	parts := []parented.With[Customer]{dear}
	got, err := parented.Load(counted, customers.In("acme", "ada"), "ada", parts...)
	fmt.Println(got.Name, len(dear.Items), dear.More, tally.Requests(), err)
	// Output: Ada 2 false 1 <nil>
}

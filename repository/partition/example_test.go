package partition_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Customer is {"id": "c1", "customerId": "c1", "type": "customer", "orderCount"}.
type Customer struct {
	tenantitem.TenantItem[Customer]
	OrderCount int `json:"orderCount"`
}

// Order is {"id", "customerId": "c1", "type": "order", "total"}, beside it.
type Order struct {
	tenantitem.TenantItem[Order]
	CustomerID tenantitem.Ref[Customer] `json:"customerId"`
	Total      float64                  `json:"total"`
}

// open makes the container and opens it.
func open(ctx context.Context, client *azcosmos.Client) (*repository.Repository[Customer], *repository.Repository[Order], error) {
	names := map[string]string{"entityType": "type"}
	plan, err := registry.NewPlan(registry.Config{
		Database: "shop", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: "customer", PartitionKey: []string{"/customerId"}}},
	}, []registry.Declaration{
		registry.EntityOf[Customer](registry.In("customer"), registry.Named("customer"), registry.WithLayout(layout.Layout{
			Global: true, Names: names, Key: []layout.KeySource{layout.FromField("id")},
		})),
		registry.EntityOf[Order](registry.In("customer"), registry.Named("order"), registry.WithLayout(layout.Layout{
			Global: true, Names: names,
		})),
	})
	if err != nil {
		return nil, nil, err
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		return nil, nil, err
	}
	if err := db.Prepare(ctx); err != nil {
		return nil, nil, err
	}
	customers, err := registry.RepositoryOf[Customer](db)
	if err != nil {
		return nil, nil, err
	}
	orders, err := registry.RepositoryOf[Order](db)
	return customers, orders, err
}

// Example writes a customer and an order in one transaction, and reads them
// with one query.
func Example() {
	ctx := context.Background()
	customers, orders, done := example(ctx)
	defer done()

	// snippet: together
	ada := &Customer{OrderCount: 1}
	ada.ID = "ada"
	err := partition.Commit(ctx, // one transaction
		customers.Global().Batch().Create(ada),
		orders.Global("ada").Batch().Create(&Order{Total: 12}),
	)
	if err != nil {
		log.Fatal(err)
	}

	customer := partition.FindID(customers.Global(), "ada")
	dear := partition.Find(orders.Global("ada"), repository.Where(repository.Gt("total", 10)), 100)
	ctx, tally := repository.WithTally(ctx)
	if err := partition.Read(ctx, customer, dear); err != nil { // one query
		log.Fatal(err)
	}
	// end snippet
	fmt.Println(customer.Items[0].OrderCount, dear.Items[0].Total, dear.More)
	fmt.Println(tally.Requests(), "request")
	// Output:
	// 1 12 false
	// 1 request
}

// What is not there is an empty list, and for One an error.
func ExampleDocuments_One() {
	ctx := context.Background()
	customers, orders, done := example(ctx)
	defer done()

	customer := partition.FindID(customers.Global(), "nobody")
	sales := partition.Find(orders.Global("nobody"), repository.All(), 100)
	if err := partition.Read(ctx, customer, sales); err != nil {
		log.Fatal(err)
	}
	_, err := customer.One()
	fmt.Println(len(sales.Items), err)
	// Output: 0 not found
}

// What one query can't find is refused before any request.
func ExampleRead_apart() {
	ctx := context.Background()
	customers, orders, done := example(ctx)
	defer done()

	err := partition.Read(ctx, partition.FindID(customers.Global(), "ada"), partition.Find(orders.Global("ben"), repository.All(), 100))
	fmt.Println(err)
	// Output: ReadTogether customer: invalid read of one partition: the scopes of customer and order are different logical partitions (query that entity type by itself)
}

func example(ctx context.Context) (*repository.Repository[Customer], *repository.Repository[Order], func()) {
	account, err := emulator.New(emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client, err := registry.NewClient(ctx, registry.ClientConfig{
		Endpoint: "https://account.emulator.localhost/", Key: account.Key(),
		Options: &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: account}},
	})
	if err != nil {
		log.Fatal(err)
	}
	customers, orders, err := open(ctx, client)
	if err != nil {
		log.Fatal(err)
	}
	return customers, orders, func() { client.Close(); _ = account.Close() }
}

// The parts of a read are a list like any other: here, more of them for an
// administrator.
func ExampleRead() {
	ctx := context.Background()
	customers, orders, done := example(ctx)
	defer done()

	sales := partition.Find(orders.Global("ada"), repository.All(), 100)
	parts := []partition.Part{sales}
	if administrator := true; administrator {
		parts = append(parts, partition.FindID(customers.Global(), "ada"))
	}
	fmt.Println(partition.Read(ctx, parts...), len(sales.Items))
	// Output: <nil> 0
}

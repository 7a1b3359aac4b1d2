package parented_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Shops lie under /tenantId,/city, so that there is a shop 1 in Bonn and one in
// Rome. A review has the city too, and belongs to one of the two.
func ExampleRepositoryOf_UnderID_wholeKey() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	key := []string{"/tenantId", "/city"}
	_, err := g.database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "shops", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: key, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	check(err)
	container, err := g.database.NewContainer("shops")
	check(err)
	shops, err := repository.New[Shop](container, repository.Config{PartitionKey: key})
	check(err)
	reviews, err := parented.New[Review](parented.NewForest(parented.ForestConfig{}), shops, g.notes.Container(), parented.Config{Rule: parented.Cascade})
	check(err)
	for _, city := range []string{"Bonn", "Rome"} {
		shop := &Shop{City: city}
		shop.ID = "1"
		check(shops.In("acme", city).Create(ctx, shop))
		check(reviews.Under(shop).Create(ctx, &Review{Text: "fine"})) // its City is filled
	}
	check(shops.In("acme", "Bonn").Delete(ctx, "1", nil))
	n, err := reviews.UnderID("acme", "1", "Rome").Count(ctx, repository.All())
	fmt.Println(n, "review in Rome,", err)
	_, err = reviews.UnderID("acme", "1").Count(ctx, repository.All())
	fmt.Println("the id alone is refused:", errors.Is(err, repository.ErrInvalid))
	// Output:
	// 1 review in Rome, <nil>
	// the id alone is refused: true
}

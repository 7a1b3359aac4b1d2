package parented_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Shop lies in a city, and its number is unique there only.
type Shop struct {
	tenantitem.TenantItem[Shop]
	City string `json:"city"`
}

type Shelf struct {
	parented.ParentedItem[Shelf, Shop]
	Name string `json:"name"`
}

// Two shops of one number in two cities are two shops: deleting one takes nothing of the other.
func TestADeleteTakesNoChildrenOfAParentWithTheSameID(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := plant(t, planting{client: emulatortest.Client(t)})
	forever := int32(-1)
	_, err := g.database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "shops", DefaultTimeToLive: &forever,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId", "/city"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	container, err := g.database.NewContainer("shops")
	must(t, err)
	items, err := g.database.NewContainer("items")
	must(t, err)
	forest := parented.NewForest(parented.ForestConfig{})
	shops, err := repository.New[Shop](container, repository.Config{PartitionKey: []string{"/tenantId", "/city"}})
	must(t, err)
	shelves, err := parented.New[Shelf](forest, shops, items, parented.Config{Rule: parented.Cascade})
	must(t, err)
	one := func(id, city string) *Shop {
		s := &Shop{City: city}
		s.ID = id
		must(t, shops.In("acme", city).Create(ctx, s))
		return s
	}
	bonn, single := one("1", "Bonn"), one("2", "Bonn")
	for _, s := range []*Shop{bonn, single} {
		must(t, shelves.Under(s).Create(ctx, &Shelf{Name: s.ID}))
	}
	rome := one("1", "Rome")
	for _, s := range []*Shop{rome, bonn} {
		mustBe(t, shops.In("acme", s.City).Delete(ctx, s.ID, nil), repository.ErrInvalid)
	}
	if n, err := shelves.In("acme").Count(ctx, repository.All()); err != nil || n != 2 {
		t.Fatalf("%d shelves, %v", n, err)
	}
	must(t, shops.In("acme", "Bonn").Delete(ctx, "2", nil))

	// The way out: the children get another parent, and those without go.
	three := one("3", "Bonn")
	for shelf, err := range shelves.In("acme").Query(ctx, repository.All()) {
		must(t, err)
		must(t, shelves.Move(ctx, "acme", shelf.ID, three.Ref()))
	}
	for _, s := range []*Shop{rome, bonn} {
		must(t, shops.In("acme", s.City).Delete(ctx, s.ID, nil))
	}
	if n, err := shelves.Under(three).Count(ctx, repository.All()); err != nil || n != 1 {
		t.Fatalf("%d shelves after the way out, %v", n, err)
	}
}

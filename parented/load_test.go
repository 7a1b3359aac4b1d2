package parented_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestLoadFromSeveralPartitions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := setup(t, emulatortest.Calm()) // its requests are counted
	note := g.tree(t, "acme", 7, 0)
	g.tree(t, "acme", 3, 0)
	must(t, g.labels.Under(note).Create(ctx, &Label{Text: "go"}))
	newest := g.comments.Part(repository.All().OrderByDesc("body"), 3)
	labels := g.labels.Part(repository.All(), 10)
	tallied, tally := repository.WithTally(ctx)
	got, err := parented.Load(tallied, g.notes.In("acme"), note.ID, newest, labels)
	must(t, err)
	if got.Title != "root" || len(newest.Items) != 3 || !newest.More || newest.Items[0].Body != "c6" || len(labels.Items) != 1 || labels.More {
		t.Fatalf("%+v, %d comments, more %t, %d labels", got, len(newest.Items), newest.More, len(labels.Items))
	}
	if tally.Requests() != 3 {
		t.Errorf("%d requests for a root and two parts", tally.Requests())
	}
	_, err = parented.Load(ctx, g.notes.In("acme"), "nobody", g.labels.Part(repository.All(), 10))
	mustBe(t, err, repository.ErrNotFound)
	_, err = parented.Load(ctx, g.notes.In("globex"), note.ID)
	mustBe(t, err, repository.ErrNotFound)
	for _, size := range []int{0, -1, 1001} {
		_, err = parented.Load(ctx, g.notes.In("acme"), note.ID, g.labels.Part(repository.All(), size))
		mustBe(t, err, repository.ErrInvalid)
	}
	_, err = parented.Load(ctx, g.notes.In("acme"), "a/b")
	mustBe(t, err, repository.ErrInvalid)
}

type Customer struct {
	tenantitem.TenantItem[Customer]
	CustomerID string `json:"customerId"`
	Name       string `json:"name"`
}

type Order struct {
	parented.ParentedItem[Order, Customer]
	CustomerID string `json:"customerId"`
	Total      int    `json:"total"`
}

type Address struct {
	parented.ParentedItem[Address, Customer]
	CustomerID string `json:"customerId"`
	City       string `json:"city"`
}

func totalsOf(orders []*Order) []int {
	var totals []int
	for _, o := range orders {
		totals = append(totals, o.Total)
	}
	slices.Sort(totals)
	return totals
}

func TestLoadFromOnePartitionIsOneQuery(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client := emulatortest.Client(t, emulatortest.Calm()) // its requests are counted
	id := emulatortest.DatabaseID(t, client, "shop")
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	database, err := client.NewDatabase(id)
	must(t, err)
	paths := []string{"/tenantId", "/customerId"}
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "sales",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	container, err := database.NewContainer("sales")
	must(t, err)
	forest, cfg := parented.NewForest(parented.ForestConfig{}), repository.Config{PartitionKey: paths}
	customers, err := repository.New[Customer](container, cfg)
	must(t, err)
	orders, err := parented.New[Order](forest, customers, container, parented.Config{Config: cfg, Rule: parented.Cascade, UniqueParentIDs: true})
	must(t, err)
	addresses, err := parented.New[Address](forest, customers, container, parented.Config{Config: cfg, Rule: parented.Cascade, UniqueParentIDs: true})
	must(t, err)
	for _, id := range []string{"ada", "bob"} {
		c := &Customer{CustomerID: id, Name: id}
		c.ID = id
		must(t, customers.In("acme", id).Create(ctx, c))
		for i := range 12 {
			must(t, orders.Under(c).Create(ctx, &Order{CustomerID: id, Total: i}))
		}
		must(t, addresses.Under(c).Create(ctx, &Address{CustomerID: id, City: fmt.Sprint(id, "town")}))
	}

	few, home := orders.Part(repository.Where(repository.Gte("total", 2)), 5).SamePartition(), addresses.Part(repository.All(), 5).SamePartition()
	tallied, tally := repository.WithTally(ctx)
	ada, err := parented.Load(tallied, customers.In("acme", "ada"), "ada", few, home)
	must(t, err)
	if ada.Name != "ada" || len(few.Items) != 5 || !few.More || len(home.Items) != 1 || home.More || home.Items[0].City != "adatown" {
		t.Fatalf("%+v, %d orders, more %t, %d addresses", ada, len(few.Items), few.More, len(home.Items))
	}
	for _, o := range few.Items {
		if o.CustomerID != "ada" || o.Total < 2 {
			t.Errorf("order: %+v", o)
		}
	}
	if tally.Requests() != 1 {
		t.Errorf("%d requests", tally.Requests())
	}

	// Two parts of one type tell their documents apart.
	low, high := orders.Part(repository.Where(repository.Lt("total", 2)), 5).SamePartition(), orders.Part(repository.Where(repository.Gte("total", 10)), 5).SamePartition()
	_, err = parented.Load(ctx, customers.In("acme", "ada"), "ada", low, high)
	must(t, err)
	if totals := totalsOf(low.Items); !slices.Equal(totals, []int{0, 1}) || low.More {
		t.Errorf("the low orders are %v", totals)
	}
	if totals := totalsOf(high.Items); !slices.Equal(totals, []int{10, 11}) || high.More {
		t.Errorf("the high orders are %v", totals)
	}

	must(t, customers.In("acme", "ada").Delete(ctx, "ada", nil))
	if n, err := orders.In("acme").Count(ctx, repository.All()); err != nil || n != 12 {
		t.Fatalf("%d orders left, want bob's, %v", n, err)
	}
	_, err = parented.Load(ctx, customers.In("acme", "ada"), "ada", addresses.Part(repository.All(), 5).SamePartition())
	mustBe(t, err, repository.ErrNotFound)
}

package changefeed_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
)

// exampleContainers stands for what an application has: the container whose
// changes it wants, and one with the partition key /id for leases.
func exampleContainers(orders ...string) (container, leases *azcosmos.ContainerClient, done func()) {
	client, done := exampleClient()
	ctx := context.Background()
	container, leases, err := makeContainers(ctx, client, database)
	if err != nil {
		panic(err)
	}
	for _, id := range orders {
		body, _ := json.Marshal(item{ID: id, Tenant: "acme", Kind: "order"})
		if _, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("order"), body, nil); err != nil {
			panic(err)
		}
	}
	return container, leases, done
}

func ExampleProcessor_CatchUp() {
	container, leases, done := exampleContainers("o-1", "o-2")
	defer done()

	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "invoices"},
		func(_ context.Context, changes []changefeed.Change) error {
			for _, c := range changes {
				fmt.Println("changed:", c.ID)
			}
			return nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := p.CatchUp(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// changed: o-1
	// changed: o-2
}

func ExampleProcessor_Run() {
	container, leases, done := exampleContainers("o-1")
	defer done()

	ctx, cancel := context.WithCancel(context.Background())
	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "shipping"},
		func(_ context.Context, changes []changefeed.Change) error {
			fmt.Println("shipping", changes[0].ID)
			cancel() // a service would run until it is told to stop
			return nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Run(ctx))
	// Output:
	// shipping o-1
	// <nil>
}

func ExampleProcessor_Replay() {
	container, leases, done := exampleContainers("o-1", "o-2")
	defer done()

	open := false
	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "mail", MaxAttempts: 1},
		func(_ context.Context, changes []changefeed.Change) error {
			for _, c := range changes {
				if c.ID == "o-2" && !open {
					return fmt.Errorf("the mailbox is full")
				}
			}
			return nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := p.CatchUp(ctx); err != nil {
		fmt.Println(err)
	}
	for q, err := range p.Quarantined(ctx) {
		fmt.Println("quarantined:", q.Reason, err)
	}
	open = true
	n, err := p.Replay(ctx)
	fmt.Println("replayed:", n, err)
	// Output:
	// quarantined: the mailbox is full <nil>
	// replayed: 1 <nil>
}

func ExampleProcessor_Lag() {
	container, leases, done := exampleContainers("o-1", "o-2", "o-3")
	defer done()

	p, err := changefeed.New(changefeed.Config{Container: container, Leases: leases, Name: "reports"},
		func(context.Context, []changefeed.Change) error { return nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	before, err := p.Lag(ctx)
	if err == nil {
		err = p.CatchUp(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := p.Lag(ctx)
	fmt.Println(before[0].Changes, after[0].Changes, err)
	// Output: 3 0 <nil>
}

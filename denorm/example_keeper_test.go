package denorm_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// The keeper follows the feed of every container that holds sources or copies;
// each has a processor, which knows how far it is behind.
func ExampleKeeper() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		if err := authors.Create(ctx, &Author{Name: "Ada"}); err != nil {
			return err
		}
		if err := keeper.CatchUp(ctx); err != nil {
			return err
		}
		for _, container := range keeper.Containers() {
			processor, _ := keeper.Processor(container)
			lag, err := processor.Lag(ctx)
			if err != nil {
				return err
			}
			fmt.Println(container, "is", lag[0].Changes, "changes behind")
		}
		return nil
	})
	// Output: documents is 0 changes behind
}

// Without fx, the keeper runs between Start and Stop.
func ExampleKeeper_Start() {
	client, done := exampleClient()
	defer done()
	ctx := context.Background()
	copies := denorm.New(denorm.Config{})
	plan, _ := registry.NewPlan(registry.Config{Database: "library", Provision: true, Logger: slog.New(slog.DiscardHandler)},
		[]registry.Declaration{registry.EntityOf[Author](), registry.EntityOf[Book]()}, copies.Extension())
	db, _ := registry.Open(client, plan)
	if err := db.Prepare(ctx); err != nil {
		fmt.Println(err)
		return
	}
	keeper, err := copies.Keeper()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keeper.Start(ctx))
	// ... the service works:
	fmt.Println(keeper.Stop(ctx))
	// Output:
	// <nil>
	// <nil>
}

// A field that was declared on existing data gets its first values by Repair,
// a snapshot too when it is asked for.
func ExampleRepairOptions() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		if err := authors.Create(ctx, &Author{Name: "Ada"}); err != nil {
			return err
		}
		progress, err := keeper.Repair(ctx, "acme", &denorm.RepairOptions{
			FillSnapshots: true,
			Skipped:       func(d denorm.Drift) { fmt.Println("look at", d.EntityType, d.ID, d.Reason) },
		})
		fmt.Println("repaired:", progress.Repaired, "skipped:", progress.Skipped, err)
		return nil
	})
	// Output: repaired: 0 skipped: 0 <nil>
}

package denorm_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// Notifier is a part of the application that follows what is stored.
type Notifier struct{ notified chan string }

func (n *Notifier) Notify(_ context.Context, changes []changefeed.Change) error {
	for _, c := range changes {
		n.notified <- c.ID
	}
	return nil
}

// A processor of the application's own: what it needs comes from fx, and every
// process of the application shares the work.
func ExampleProcess() {
	client, done := exampleClient()
	defer done()
	ctx := context.Background()
	notifier := &Notifier{notified: make(chan string, 10)}
	var authors *repository.Repository[Author]
	app := fx.New(
		fx.NopLogger,
		fx.Provide(func() *azcosmos.Client { return client }),
		fx.Supply(notifier),
		registry.Module(registry.Config{Database: "library", Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Author](),
		denorm.Process[Author]("notify", func(n *Notifier) changefeed.Handler { return n.Notify }),
		fx.Populate(&authors),
	)
	if err := app.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	ada := &Author{Name: "Ada"}
	ada.ID = "ada"
	fmt.Println(authors.In("acme").Create(ctx, ada))
	fmt.Println("notified of", <-notifier.notified)
	fmt.Println(app.Stop(ctx))
	// Output:
	// <nil>
	// notified of ada
	// <nil>
}

// A second database of the application has a keeper of its own, by its name.
func ExampleNamedModule() {
	client, done := exampleClient()
	defer done()
	app := fx.New(
		fx.NopLogger,
		fx.Provide(func() *azcosmos.Client { return client }),
		registry.Module(registry.Config{Name: "archive", Database: "archive", Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Author](registry.Of("archive")),
		registry.Entity[Book](registry.Of("archive")),
		denorm.NamedModule("archive", denorm.CountOf[Author, Book]("countOfBooks", "editorId")),
		fx.Invoke(fx.Annotate(func(keeper *denorm.Keeper) { fmt.Println(keeper.Containers()) }, fx.ParamTags(`name:"archive"`))),
	)
	fmt.Println(app.Err())
	// Output:
	// [documents]
	// <nil>
}

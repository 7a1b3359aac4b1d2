package denorm_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/uuid"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Author struct {
	tenantitem.TenantItem[Author]
	Name         string                 `json:"name"`
	Books        []tenantitem.Ref[Book] `json:"books"`
	CountOfBooks int                    `json:"countOfBooks"`
	NewestBooks  []BookCard             `json:"newestBooks"`
}

type BookCard struct {
	Title string `json:"title"`
}

type Book struct {
	tenantitem.TenantItem[Book]
	Title         string                   `json:"title"`
	Authors       []tenantitem.Ref[Author] `json:"authors"`
	EditorID      tenantitem.Ref[Author]   `json:"editorId,omitempty"`
	EditorName    string                   `json:"editorName,omitempty" denorm:"sync,ref=editorId,field=name"`
	FirstEditedBy string                   `json:"firstEditedBy,omitempty" denorm:"snapshot,ref=editorId,field=name"`
}

// library runs an application over an account in this process.
func library(run func(context.Context, *repository.Scope[Author], *repository.Scope[Book], *denorm.Keeper) error, more ...fx.Option) {
	client, done := exampleClient()
	defer done()
	ctx := context.Background()
	app := fx.New(
		fx.NopLogger,
		fx.Provide(func() *azcosmos.Client { return client }),
		registry.Module(registry.Config{Database: "library", Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Author](),
		registry.Entity[Book](),
		denorm.Module,
		fx.Options(more...),
		fx.Invoke(func(lc fx.Lifecycle, authors *repository.Repository[Author], books *repository.Repository[Book], keeper *denorm.Keeper) {
			lc.Append(fx.StartHook(func(ctx context.Context) error {
				return run(ctx, authors.In("acme"), books.In("acme"), keeper)
			}))
		}),
	)
	if err := app.Start(ctx); err != nil {
		fmt.Println(err)
	}
	if err := app.Stop(ctx); err != nil {
		fmt.Println(err)
	}
}

func exampleClient() (client *azcosmos.Client, done func()) {
	service, err := emulator.New(emulator.Options{})
	if err != nil {
		panic(err)
	}
	credential, err := azcosmos.NewKeyCredential(service.Key())
	if err != nil {
		panic(err)
	}
	endpoint := "https://" + uuid.NewString() + ".emulator.localhost/"
	client, err = azcosmos.NewClientWithKey(endpoint, credential, repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}}))
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); _ = service.Close() }
}

// The editor's name in a book follows; the one of the first editor stays.
func Example() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		ada := &Author{Name: "Ada"}
		if err := authors.Create(ctx, ada); err != nil {
			return err
		}
		notes := &Book{Title: "Notes", EditorID: ada.Ref()}
		if err := books.Create(ctx, notes); err != nil {
			return err
		}
		fmt.Println("written:", notes.EditorName)

		if _, err := authors.Mutate(ctx, ada.ID, func(a *Author) error { a.Name = "Countess Lovelace"; return nil }); err != nil {
			return err
		}
		if err := keeper.CatchUp(ctx); err != nil {
			return err
		}
		notes, err := books.Get(ctx, notes.ID)
		if err != nil {
			return err
		}
		fmt.Println("followed:", notes.EditorName)
		fmt.Println("snapshot:", notes.FirstEditedBy)
		return nil
	})
	// Output:
	// written: Ada
	// followed: Countess Lovelace
	// snapshot: Ada
}

func ExampleCount() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		ada := &Author{Name: "Ada"}
		if err := authors.Create(ctx, ada); err != nil {
			return err
		}
		for _, title := range []string{"Notes", "Letters", "Sketches"} {
			if err := books.Create(ctx, &Book{Title: title, EditorID: ada.Ref()}); err != nil {
				return err
			}
		}
		if err := keeper.CatchUp(ctx); err != nil {
			return err
		}
		ada, err := authors.Get(ctx, ada.ID)
		if err != nil {
			return err
		}
		fmt.Println(ada.CountOfBooks, "books, the newest are", ada.NewestBooks)
		return nil
	},
		denorm.Count[Author, Book]("countOfBooks", "editorId"),
		denorm.Recent[Author, Book]("newestBooks", 2, "editorId"),
	)
	// Output:
	// 3 books, the newest are [{Sketches} {Letters}]
}

func ExampleLink() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		ada, notes := &Author{Name: "Ada"}, &Book{Title: "Notes"}
		if err := authors.Create(ctx, ada); err != nil {
			return err
		}
		notes.Authors = append(notes.Authors, ada.Ref())
		if err := books.Create(ctx, notes); err != nil {
			return err
		}
		if err := keeper.CatchUp(ctx); err != nil {
			return err
		}
		ada, err := authors.Get(ctx, ada.ID)
		if err != nil {
			return err
		}
		fmt.Println("Ada's list names the book:", len(ada.Books) == 1 && ada.Books[0] == notes.Ref())
		return nil
	},
		denorm.Link[Author, Book]("books", "authors"),
	)
	// Output:
	// Ada's list names the book: true
}

func ExampleOnDelete() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		ada := &Author{Name: "Ada"}
		ada.ID = "ada"
		if err := authors.Create(ctx, ada); err != nil {
			return err
		}
		if err := books.Create(ctx, &Book{Title: "Notes", EditorID: ada.Ref()}); err != nil {
			return err
		}
		fmt.Println(authors.Delete(ctx, ada.ID, nil))
		return nil
	},
		denorm.OnDelete[Book, Author]("editorId", denorm.Restrict),
	)
	// Output:
	// Delete Author "ada" of tenant "acme": referenced: a Book refers to Author "ada" in editorId (change or delete it first)
}

// Without fx: the same in plain calls, and a repair of what another program changed
// around the repositories.
func ExampleKeeper_Repair() {
	client, done := exampleClient()
	defer done()
	ctx := context.Background()

	copies := denorm.New(denorm.Config{}, denorm.CountOf[Author, Book]("countOfBooks", "editorId"))
	plan, err := registry.NewPlan(
		registry.Config{Database: "library", Provision: true, Logger: slog.New(slog.DiscardHandler)},
		[]registry.Declaration{registry.EntityOf[Author](), registry.EntityOf[Book]()},
		copies.Extension(),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Prepare(ctx); err != nil {
		fmt.Println(err)
		return
	}
	keeper, err := copies.Keeper()
	if err != nil {
		fmt.Println(err)
		return
	}
	authors, err := registry.RepositoryOf[Author](db)
	if err != nil {
		fmt.Println(err)
		return
	}
	ada := &Author{Name: "Ada"}
	if err := authors.In("acme").Create(ctx, ada); err != nil {
		fmt.Println(err)
		return
	}
	var patch azcosmos.PatchOperations
	patch.AppendSet("/countOfBooks", 99)
	key := azcosmos.NewPartitionKeyString("acme").AppendString("Author")
	if _, err := authors.Container().PatchItem(ctx, key, ada.ID, patch, nil); err != nil {
		fmt.Println(err)
		return
	}

	for d, err := range keeper.Audit(ctx, "acme") {
		fmt.Println(d.EntityType, d.Field, "is", string(d.Have), "and should be", string(d.Want), err)
	}
	progress, err := keeper.Repair(ctx, "acme", nil)
	fmt.Println("repaired:", progress.Repaired, err)
	// Output:
	// Author countOfBooks is 99 and should be 0 <nil>
	// repaired: 1 <nil>
}

package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// The declarations without fx, as New takes them.
func ExampleNew() {
	copies := denorm.New(denorm.Config{Tombstone: 30 * 24 * time.Hour},
		denorm.RecentOf[Author, Book]("newestBooks", 2, "editorId"),
		denorm.LinkOf[Author, Book]("books", "authors"),
		denorm.OnDeleteOf[Book, Author]("editorId", denorm.Clear),
	)
	plan, err := registry.NewPlan(registry.Config{Database: "library", Logger: slog.New(slog.DiscardHandler)},
		[]registry.Declaration{registry.EntityOf[Author](), registry.EntityOf[Book]()}, copies.Extension())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Containers() {
		fmt.Println(c.ID)
	}
	// Output:
	// documents
	// grove-leases
}

// A document that others refer to is not deleted, and the error names them.
func ExampleReferencedError() {
	library(func(ctx context.Context, authors *repository.Scope[Author], books *repository.Scope[Book], keeper *denorm.Keeper) error {
		ada := &Author{Name: "Ada"}
		if err := authors.Create(ctx, ada); err != nil {
			return err
		}
		if err := books.Create(ctx, &Book{Title: "Notes", EditorID: ada.Ref()}); err != nil {
			return err
		}
		err := authors.Delete(ctx, ada.ID, nil)
		var referenced *denorm.ReferencedError
		if errors.As(err, &referenced) {
			fmt.Println("kept, since a", referenced.By, "refers to it in", referenced.Field)
		}
		return nil
	},
		denorm.OnDelete[Book, Author]("editorId", denorm.Restrict),
	)
	// Output: kept, since a Book refers to it in editorId
}

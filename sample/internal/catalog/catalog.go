package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/account"
	"github.com/cosmosgrove/grove/sample/internal/report"
	"github.com/cosmosgrove/grove/sample/internal/webstore"
)

// tenants are the two shops that sell the same things.
var tenants = [...]string{"adventure-works", "fabrikam"}

// database holds both models of the catalogue.
const database = "grove-sample"

type app struct {
	report     *report.Report
	categories *repository.Repository[Category]
	tags       *repository.Repository[Tag]
	products   *repository.Repository[Product]
	store      *webstore.Store
	buyer      string // a customer of the store
}

// Run reads the files of a folder, saves them for two tenants and queries them;
// then it does the same with the three containers of the WebStore.
func Run(ctx context.Context, at *account.Account, folder string, r *report.Report) error {
	f, err := read(folder)
	if err != nil {
		return err
	}
	a := app{report: r}
	wired := fx.New(
		fx.NopLogger, // its log would hide the report; errors are returned all the same
		fx.Supply(at.Client),
		registry.Module(registry.Config{Database: database, Provision: true, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[Category](),
		registry.Entity[Tag](),
		registry.Entity[Product](),
		fx.Populate(&a.categories, &a.tags, &a.products),
	)
	if err := wired.Err(); err != nil {
		return err
	}
	if err := wired.Start(ctx); err != nil {
		return err
	}
	r.Title("A catalogue on "+at.Name, fmt.Sprintf("%d products, %d categories and %d tags, for %d tenants", len(f.products), len(f.categories), len(f.tags), len(tenants)))
	if a.store, err = webstore.Open(ctx, at.Client, database); err == nil {
		err = a.walk(ctx, f)
	}
	if stopErr := wired.Stop(ctx); err == nil {
		err = stopErr
	}
	if err == nil {
		requests, units := at.Meter.Read()
		r.Rest("start, following changes", requests, units)
	}
	return err
}

func (a *app) walk(ctx context.Context, f *files) error {
	a.report.Section("Importing")
	for _, tenant := range tenants {
		if err := save(ctx, a.report, a.categories.In(tenant), "categories of "+tenant, "categories", f.categories); err != nil {
			return err
		}
		if err := save(ctx, a.report, a.tags.In(tenant), "tags of "+tenant, "tags", f.tags); err != nil {
			return err
		}
		if err := save(ctx, a.report, a.products.In(tenant), "products of "+tenant, "products", f.products); err != nil {
			return err
		}
	}
	a.report.Section("Asking")
	best := favourite(f)
	if err := a.ask(ctx, tenants[0], best.Name); err != nil {
		return err
	}
	return a.inContainers(ctx, f, best)
}

// save stores entities in bulk. Those that an earlier run stored are left as
// they are.
func save[T any](ctx context.Context, r *report.Report, scope *repository.Scope[T], title, what string, entities []*T) error {
	return r.Step(ctx, title, "SaveAll", report.OnePartition, func(ctx context.Context) (string, error) {
		bar := r.Bar(what, len(entities))
		defer bar.Done()
		done, there, err := saveAll(ctx, scope, entities, func(p repository.Receipt) { bar.Set(p.Succeeded + p.Failed) })
		return saved(done, there), err
	})
}

// saveAll returns how many were stored, and how many were there already.
func saveAll[T any](ctx context.Context, scope *repository.Scope[T], entities []*T, progress func(repository.Receipt)) (done, there int, err error) {
	receipt, err := scope.SaveAll(ctx, slices.Values(copies(entities)), &repository.BulkOptions{Progress: progress})
	if receipt == nil {
		return 0, 0, err
	}
	for _, item := range receipt.Items {
		if errors.Is(item.Err, repository.ErrConflict) {
			there++
		}
	}
	if receipt.Succeeded+there == len(entities) {
		err = nil
	}
	return receipt.Succeeded, there, err
}

func saved(done, there int) string {
	if there > 0 {
		return fmt.Sprintf("%d saved, %d were there already", done, there)
	}
	return fmt.Sprintf("%d saved", done)
}

// favourite is the category with the most products.
func favourite(f *files) *Category {
	count := map[string]int{}
	for _, p := range f.products {
		count[p.CategoryID.String()]++
	}
	if len(f.categories) == 0 {
		return &Category{}
	}
	return slices.MaxFunc(f.categories, func(a, b *Category) int {
		return cmp.Or(cmp.Compare(count[a.ID], count[b.ID]), cmp.Compare(b.Name, a.Name))
	})
}

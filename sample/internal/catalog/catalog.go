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
)

// tenants are the two shops that sell the same things.
var tenants = [...]string{"adventure-works", "fabrikam"}

type app struct {
	report     *report.Report
	categories *repository.Repository[Category]
	tags       *repository.Repository[Tag]
	products   *repository.Repository[Product]
}

// Run reads the files of a folder, saves them for two tenants and queries them.
func Run(ctx context.Context, at *account.Account, folder string, r *report.Report) error {
	f, err := read(folder)
	if err != nil {
		return err
	}
	a := app{report: r}
	wired := fx.New(
		fx.NopLogger, // its log would hide the report; errors are returned all the same
		fx.Supply(at.Client),
		registry.Module(registry.Config{Database: "grove-sample", Provision: true, Logger: slog.New(slog.DiscardHandler)}),
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
	err = a.walk(ctx, f)
	if stopErr := wired.Stop(ctx); err == nil {
		err = stopErr
	}
	if err == nil {
		requests, units := at.Meter.Read()
		r.Rest("start", requests, units)
	}
	return err
}

func (a *app) walk(ctx context.Context, f *files) error {
	a.report.Section("Importing")
	for _, tenant := range tenants {
		if err := save(ctx, a.report, a.categories, tenant, "categories", f.categories); err != nil {
			return err
		}
		if err := save(ctx, a.report, a.tags, tenant, "tags", f.tags); err != nil {
			return err
		}
		if err := save(ctx, a.report, a.products, tenant, "products", f.products); err != nil {
			return err
		}
	}
	a.report.Section("Asking")
	return a.ask(ctx, tenants[0], favourite(f))
}

// save stores entities in bulk. Those that an earlier run stored are left as
// they are.
func save[T any](ctx context.Context, r *report.Report, repo *repository.Repository[T], tenant, what string, entities []*T) error {
	return r.Step(ctx, fmt.Sprintf("%s of %s", what, tenant), "SaveAll", report.OnePartition, func(ctx context.Context) (string, error) {
		bar := r.Bar(what, len(entities))
		receipt, err := repo.In(tenant).SaveAll(ctx, slices.Values(copies(entities)), &repository.BulkOptions{
			Progress: func(p repository.Receipt) { bar.Set(p.Succeeded + p.Failed) },
		})
		bar.Done()
		if receipt == nil {
			return "", err
		}
		there := 0
		for _, item := range receipt.Items {
			if errors.Is(item.Err, repository.ErrConflict) {
				there++
			}
		}
		if err != nil && receipt.Succeeded+there < len(entities) {
			return "", err
		}
		if there > 0 {
			return fmt.Sprintf("%d saved, %d were there already", receipt.Succeeded, there), nil
		}
		return fmt.Sprintf("%d saved", receipt.Succeeded), nil
	})
}

// favourite is the name of the category with the most products.
func favourite(f *files) string {
	count := map[string]int{}
	for _, p := range f.products {
		count[p.CategoryID.String()]++
	}
	if len(f.categories) == 0 {
		return ""
	}
	most := slices.MaxFunc(f.categories, func(a, b *Category) int {
		return cmp.Or(cmp.Compare(count[a.ID], count[b.ID]), cmp.Compare(b.Name, a.Name))
	})
	return most.Name
}

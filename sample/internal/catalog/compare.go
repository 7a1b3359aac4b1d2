package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
	"github.com/cosmosgrove/grove/sample/internal/webstore"
	"github.com/cosmosgrove/grove/tenantitem"
)

// compareModels asks both models the same: one container under
// /tenantId,/entityType, where a product names its category and tags by their
// ids, and the WebStore, where it has copies of their names.
func (a *app) compareModels(ctx context.Context, best *Category) error {
	tenant := tenants[0]
	a.report.Patterns("Both models", "by id", "WebStore")
	compare := func(title, note string, one, other report.Way) func() error {
		return func() error {
			return a.report.Compare(ctx, title, note, func(ctx context.Context, way report.Way) (string, int64, float64, error) {
				ctx, tally := repository.WithTally(ctx)
				result, err := way(ctx)
				return result, tally.Requests(), tally.RequestUnits(), err
			}, one, other)
		}
	}
	name := best.Name + renamed
	return inOrder(
		compare("all categories", "",
			func(ctx context.Context) (string, error) {
				n, err := count(a.categories.In(tenant).Query(ctx, repository.All()))
				return fmt.Sprintf("%d categories", n), err
			},
			func(ctx context.Context) (string, error) {
				n, err := count(a.store.AllCategories(ctx))
				return fmt.Sprintf("%d categories", n), err
			}),
		compare("all tags", "",
			func(ctx context.Context) (string, error) {
				n, err := count(a.tags.In(tenant).Query(ctx, repository.All()))
				return fmt.Sprintf("%d tags", n), err
			},
			func(ctx context.Context) (string, error) {
				n, err := count(a.store.AllTags(ctx))
				return fmt.Sprintf("%d tags", n), err
			}),
		compare("a category's products, with all names", ", which the WebStore has in the products",
			func(ctx context.Context) (string, error) { return a.namesByID(ctx, tenant, best) },
			func(ctx context.Context) (string, error) { return a.namesInProducts(ctx, best) }),
		compare("rename a category", ", in the WebStore with every product of it",
			func(ctx context.Context) (string, error) {
				_, err := a.categories.In(tenant).Patch(ctx, best.ID, repository.Set("/name", name))
				return name, err
			},
			func(ctx context.Context) (string, error) {
				if err := a.store.RenameCategory(ctx, best.ID, name); err != nil {
					return "", err
				}
				return name, a.store.Keeper.CatchUp(ctx)
			}),
		func() error { // so that it can be said again
			_, err := a.categories.In(tenant).Patch(ctx, best.ID, repository.Set("/name", best.Name))
			return errors.Join(err, a.store.RenameCategory(ctx, best.ID, best.Name), a.store.Keeper.CatchUp(ctx))
		},
	)
}

// namesByID reads a category, its products, and the tags that they name.
func (a *app) namesByID(ctx context.Context, tenant string, best *Category) (string, error) {
	if _, err := a.categories.In(tenant).Get(ctx, best.ID); err != nil {
		return "", err
	}
	ids := map[string]bool{}
	var some []string
	n := 0
	for p, err := range a.products.In(tenant).Query(ctx, repository.Where(repository.Eq("categoryId", best.ID))) {
		if err != nil {
			return "", err
		}
		n++
		for _, id := range p.TagIDs {
			if !ids[id.String()] {
				ids[id.String()] = true
				some = append(some, id.String())
			}
		}
	}
	tags, err := a.tags.In(tenant).GetMany(ctx, some...)
	names := map[string]bool{}
	for _, t := range tags {
		names[t.Name] = true
	}
	return fmt.Sprintf("%d products, %d names of tags", n, len(names)), err
}

func (a *app) namesInProducts(ctx context.Context, best *Category) (string, error) {
	names := map[string]bool{}
	n := 0
	for p, err := range a.store.ProductsOf(ctx, tenantitem.Ref[webstore.Category](best.ID)) {
		if err != nil {
			return "", err
		}
		n++
		for _, t := range p.Tags {
			names[t.Name] = true
		}
	}
	return fmt.Sprintf("%d products, %d names of tags", n, len(names)), nil
}

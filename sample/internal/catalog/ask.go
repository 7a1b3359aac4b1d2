package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
)

// shown is how many products of a list are printed.
const shown = 10

func (a *app) ask(ctx context.Context, tenant, name string) error {
	var category *Category
	err := a.report.Step(ctx, "a category by its name", "First", report.OnePartition, func(ctx context.Context) (string, error) {
		var err error
		if category, err = a.categories.In(tenant).First(ctx, repository.Where(repository.Eq("name", name))); err != nil {
			return "", err
		}
		return category.Name, nil
	})
	if err != nil {
		return err
	}
	products := a.products.In(tenant)
	err = a.report.Step(ctx, "its products", "Query", report.OnePartition, func(ctx context.Context) (string, error) {
		var found []*Product
		for p, err := range products.Query(ctx, repository.Where(repository.Eq("categoryId", category.ID)).OrderBy("name")) {
			if err != nil {
				return "", err
			}
			found = append(found, p)
		}
		return lines(found), nil
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "one page of the dearest", "Page", report.OnePartition, func(ctx context.Context) (string, error) {
		page, err := products.Page(ctx, repository.All().OrderByDesc("price"), repository.PageOptions{Size: shown})
		if err != nil {
			return "", err
		}
		return lines(page.Items), nil
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "how many cost more than 1,000", "Count", report.OnePartition, func(ctx context.Context) (string, error) {
		n, err := products.Count(ctx, repository.Where(repository.Gt("price", 1000)))
		return fmt.Sprintf("%d products", n), err
	})
	if err != nil {
		return err
	}
	return a.report.Step(ctx, "how many there are, of both tenants", "Count", report.AllTenants, func(ctx context.Context) (string, error) {
		n, err := a.products.AllTenants().Count(ctx, repository.All())
		return fmt.Sprintf("%d products", n), err
	})
}

// lines lists the first products with their prices.
func lines(products []*Product) string {
	if len(products) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, p := range products {
		if i == shown {
			fmt.Fprintf(&b, "and %d more\n", len(products)-shown)
			break
		}
		fmt.Fprintf(&b, "%9.2f  %s\n", p.Price, p.Name)
	}
	return b.String()
}

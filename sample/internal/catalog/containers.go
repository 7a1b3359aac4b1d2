package catalog

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
	"github.com/cosmosgrove/grove/sample/internal/webstore"
	"github.com/cosmosgrove/grove/tenantitem"
)

// inContainers is the same catalogue in the containers of the WebStore, and
// what both models cost.
func (a *app) inContainers(ctx context.Context, f *files, best *Category) error {
	a.report.Section("The WebStore's three containers")
	for _, step := range []func(context.Context, *files, *Category) error{a.fill, a.askCustomers, a.askProducts, a.rename} {
		if err := step(ctx, f, best); err != nil {
			return err
		}
	}
	return a.compareModels(ctx, best)
}

func (a *app) fill(ctx context.Context, f *files, _ *Category) error {
	s := shopOf(f)
	a.buyer = s.buyer()
	if err := save(ctx, a.report, a.store.Categories.Global(), "categories", "categories", s.categories); err != nil {
		return err
	}
	if err := save(ctx, a.report, a.store.Tags.Global(), "tags", "tags", s.tags); err != nil {
		return err
	}
	err := saveEach(ctx, a.report, "products, with names filled in", len(f.products), s.products, func(id tenantitem.Ref[webstore.Category]) *repository.Scope[webstore.Product] {
		return a.store.Products.Global(id)
	})
	if err != nil {
		return err
	}
	byID := map[string][]*webstore.Customer{}
	orders := 0
	for _, c := range s.customers {
		byID[c.ID] = append(byID[c.ID], c)
		orders += len(s.orders[c.ID])
	}
	err = saveEach(ctx, a.report, "customers", len(s.customers), byID, func(string) *repository.Scope[webstore.Customer] { return a.store.Customers.Global() })
	if err != nil {
		return err
	}
	return saveEach(ctx, a.report, "their orders, counted", orders, s.orders, func(id string) *repository.Scope[webstore.SalesOrder] { return a.store.Orders.Global(id) })
}

// saveEach is save of documents of many logical partitions.
func saveEach[K comparable, T any](ctx context.Context, r *report.Report, title string, total int, parts map[K][]*T, scope func(K) *repository.Scope[T]) error {
	return r.Step(ctx, title, "SaveAll", report.Partitions, func(ctx context.Context) (string, error) {
		bar := r.Bar(title, total)
		defer bar.Done()
		done, there := 0, 0
		for key, entities := range parts {
			n, m, err := saveAll(ctx, scope(key), entities, nil)
			if err != nil {
				return "", err
			}
			done, there = done+n, there+m
			bar.Set(done + there)
		}
		return saved(done, there), nil
	})
}

func (a *app) askCustomers(ctx context.Context, _ *files, _ *Category) error {
	id := a.buyer
	step := func(title, verb, scope string, do func(context.Context) (string, error)) func() error {
		return func() error { return a.report.Step(ctx, title, verb, scope, do) }
	}
	return inOrder(
		step("a customer by its id", "Get", report.Point, func(ctx context.Context) (string, error) {
			c, err := a.store.Customer(ctx, id)
			if err != nil {
				return "", err
			}
			return c.EmailAddress, nil
		}),
		step("a customer with all orders", "Read", report.OnePartition, func(ctx context.Context) (string, error) {
			c, orders, _, err := a.store.CustomerWithOrders(ctx, id)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s and %d orders", c.EmailAddress, len(orders)), nil
		}),
		step("the orders alone", "Query", report.OnePartition, func(ctx context.Context) (string, error) {
			n, err := count(a.store.OrdersOf(ctx, id))
			return fmt.Sprintf("%d orders", n), err
		}),
		step("the 10 customers who buy most", "Query", report.Partitions, func(ctx context.Context) (string, error) {
			var counts []string
			for c, err := range a.store.TopCustomers(ctx, 10) {
				if err != nil {
					return "", err
				}
				counts = append(counts, fmt.Sprint(c.SalesOrderCount))
			}
			return strings.Join(counts, ", ") + " orders", nil
		}),
		step("a new order, with its count", "Create", report.OnePartition, func(ctx context.Context) (string, error) {
			if err := a.store.NewOrder(ctx, id, &webstore.SalesOrder{OrderDate: time.Now()}); err != nil {
				return "", err
			}
			return "one transaction", nil
		}),
	)
}

func (a *app) askProducts(ctx context.Context, _ *files, best *Category) error {
	return a.report.Step(ctx, "products of a category, with names", "Query", report.OnePartition, func(ctx context.Context) (string, error) {
		var b strings.Builder
		n := 0
		for p, err := range a.store.ProductsOf(ctx, tenantitem.Ref[webstore.Category](best.ID)) {
			if err != nil {
				return "", err
			}
			if n++; n <= 3 {
				var tags []string
				for _, t := range p.Tags {
					tags = append(tags, t.Name)
				}
				fmt.Fprintf(&b, "%s (%s; %s)\n", p.Name, p.CategoryName, strings.Join(tags, ", "))
			}
		}
		if n > 3 {
			fmt.Fprintf(&b, "and %d more\n", n-3)
		}
		return b.String(), nil
	})
}

// renamed is what a new name ends with.
const renamed = " (renamed)"

// rename renames a category and a tag, lets the products follow, and gives the
// names back.
func (a *app) rename(ctx context.Context, f *files, best *Category) error {
	follow := func(title, result string) error {
		return a.report.Step(ctx, title, "CatchUp", report.Partitions, func(ctx context.Context) (string, error) {
			return result, a.store.Keeper.CatchUp(ctx)
		})
	}
	if err := follow("the feed of all that was stored", "read to its end"); err != nil {
		return err
	}
	tag := firstTag(f)
	for _, r := range []struct {
		what, id, name string
		rename         func(ctx context.Context, id, name string) error
		follow         repository.Query
	}{
		{"a category", best.ID, best.Name, a.store.RenameCategory, repository.Where(repository.Eq("categoryName", best.Name+renamed))},
		{"a tag", tag.ID, tag.Name, a.store.RenameTag, repository.SQL(`EXISTS (SELECT VALUE 1 FROM t IN c.tags WHERE t.name = @name)`, repository.P("name", tag.Name+renamed))},
	} {
		if r.id == "" {
			continue // no product has one
		}
		err := a.report.Step(ctx, r.what+" is renamed", "Patch", report.Point, func(ctx context.Context) (string, error) {
			return r.name + renamed, r.rename(ctx, r.id, r.name+renamed)
		})
		if err != nil {
			return err
		}
		if err := follow("and its products follow", "through the change feed"); err != nil {
			return err
		}
		err = a.report.Step(ctx, "how many have the new name", "Count", report.Partitions, func(ctx context.Context) (string, error) {
			n, err := a.store.Products.Global().Count(ctx, r.follow)
			return fmt.Sprintf("%d products", n), err
		})
		if err != nil {
			return err
		}
		if err := r.rename(ctx, r.id, r.name); err != nil {
			return err
		}
		if err := a.store.Keeper.CatchUp(ctx); err != nil {
			return err
		}
	}
	return nil
}

// firstTag is the first tag of a product, for there may be some of none.
func firstTag(f *files) *Tag {
	for _, p := range f.products {
		for _, t := range f.tags {
			if slices.Contains(p.TagIDs, t.Ref()) {
				return t
			}
		}
	}
	return &Tag{}
}

func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func count[T any](rows iter.Seq2[*T, error]) (n int, err error) {
	for _, err := range rows {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

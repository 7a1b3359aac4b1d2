package webstore

import (
	"context"
	"iter"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// snippet: customers

// Customer is a point read: the id is the key.
func (s *Store) Customer(ctx context.Context, id string) (*Customer, error) {
	return s.Customers.Global().Get(ctx, id)
}

// CustomerWithOrders is one query of one logical partition, however many types
// it finds there. Of more than 1,000 orders it says so.
func (s *Store) CustomerWithOrders(ctx context.Context, id string) (c *Customer, orders []*SalesOrder, more bool, err error) {
	customer := partition.FindID(s.Customers.Global(), id)
	sales := partition.Find(s.Orders.Global(id), repository.All(), 1000)
	if err := partition.Read(ctx, customer, sales); err != nil {
		return nil, nil, false, err
	}
	c, err = customer.One()
	return c, sales.Items, sales.More, err
}

// OrdersOf is a query of one logical partition, newest first.
func (s *Store) OrdersOf(ctx context.Context, customer string) iter.Seq2[*SalesOrder, error] {
	return s.Orders.Global(customer).Query(ctx, repository.All().OrderByDesc("orderDate"))
}

// TopCustomers visits every physical partition: no key says who buys most.
func (s *Store) TopCustomers(ctx context.Context, n int) iter.Seq2[*Customer, error] {
	return s.Customers.Global().Query(ctx, repository.All().OrderByDesc("salesOrderCount").Limit(n))
}

// NewOrder creates the order and raises its customer's salesOrderCount, in one
// transaction of one request.
func (s *Store) NewOrder(ctx context.Context, customer string, order *SalesOrder) error {
	return s.Orders.Global(customer).Create(ctx, order)
}

// end snippet

// snippet: products

// AllCategories is a query of one logical partition, as AllTags is.
func (s *Store) AllCategories(ctx context.Context) iter.Seq2[*Category, error] {
	return s.Categories.Global().Query(ctx, repository.All())
}

// AllTags is AllCategories for tags.
func (s *Store) AllTags(ctx context.Context) iter.Seq2[*Tag, error] {
	return s.Tags.Global().Query(ctx, repository.All())
}

// ProductsOf is a query of one logical partition; each product has the names
// of its category and tags.
func (s *Store) ProductsOf(ctx context.Context, category tenantitem.Ref[Category]) iter.Seq2[*Product, error] {
	return s.Products.Global(category).Query(ctx, repository.All())
}

// RenameCategory writes one document; the change feed takes the name to every
// product of the category.
func (s *Store) RenameCategory(ctx context.Context, id, name string) error {
	_, err := s.Categories.Global().Patch(ctx, id, repository.Set("/name", name))
	return err
}

// RenameTag is RenameCategory for a tag, whose products lie in many partitions.
func (s *Store) RenameTag(ctx context.Context, id, name string) error {
	_, err := s.Tags.Global().Patch(ctx, id, repository.Set("/name", name))
	return err
}

// end snippet

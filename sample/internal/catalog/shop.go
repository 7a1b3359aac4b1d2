package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/sample/internal/webstore"
	"github.com/cosmosgrove/grove/tenantitem"
)

// shop is a catalogue's files in the form of the WebStore. The files have no
// customers, so some are made up, who buy what there is.
type shop struct {
	categories []*webstore.Category
	tags       []*webstore.Tag
	products   map[tenantitem.Ref[webstore.Category]][]*webstore.Product
	customers  []*webstore.Customer
	orders     map[string][]*webstore.SalesOrder
}

// customers is how many customers are made up; the nth has up to most orders.
const customers, most = 20, 10

func shopOf(f *files) *shop {
	s := &shop{products: map[tenantitem.Ref[webstore.Category]][]*webstore.Product{}, orders: map[string][]*webstore.SalesOrder{}}
	for _, c := range f.categories {
		category := &webstore.Category{Name: c.Name}
		category.ID = c.ID
		s.categories = append(s.categories, category)
	}
	for _, t := range f.tags {
		tag := &webstore.Tag{Name: t.Name}
		tag.ID = t.ID
		s.tags = append(s.tags, tag)
	}
	for _, p := range f.products {
		product := &webstore.Product{SKU: p.SKU, Name: p.Name, Description: p.Description, Price: p.Price}
		product.ID, product.CategoryID = p.ID, tenantitem.Ref[webstore.Category](p.CategoryID)
		for _, id := range p.TagIDs {
			product.Tags = append(product.Tags, webstore.ProductTag{ID: tenantitem.Ref[webstore.Tag](id)})
		}
		s.products[product.CategoryID] = append(s.products[product.CategoryID], product)
	}
	day := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	for i := range customers {
		c := &webstore.Customer{
			FirstName: "Customer", LastName: fmt.Sprint(i), EmailAddress: fmt.Sprintf("customer-%02d@example.com", i), CreationDate: day,
			Addresses: []webstore.Address{{AddressLine1: fmt.Sprint(i, " Mill Road"), City: "Bristol", Country: "GB", ZipCode: "BS1"}},
		}
		c.ID = fmt.Sprintf("customer-%02d", i)
		s.customers = append(s.customers, c)
		for n := range i * 7 % (most + 1) {
			o := &webstore.SalesOrder{OrderDate: day.AddDate(0, 0, n)}
			o.ID = fmt.Sprintf("order-%d", n)
			if len(f.products) > 0 {
				p := f.products[(i+n)%len(f.products)]
				o.Details = []webstore.Detail{{SKU: p.SKU, Name: p.Name, Price: p.Price, Quantity: 1 + n%3}}
			}
			s.orders[c.ID] = append(s.orders[c.ID], o)
		}
	}
	return s
}

// buyer is a customer with the most orders.
func (s *shop) buyer() string {
	best := slices.MaxFunc(s.customers, func(a, b *webstore.Customer) int { return cmp.Compare(len(s.orders[a.ID]), len(s.orders[b.ID])) })
	return best.ID
}

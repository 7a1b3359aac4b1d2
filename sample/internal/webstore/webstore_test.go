package webstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/webstore"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bundle struct {
	*webstore.Store
	client   *azcosmos.Client
	database string
}

// setup opens the store and fills it: 4 categories with 10 products each, 6
// tags of which each product has 2, and 12 customers, of whom c05 has 5 orders.
func setup(t *testing.T, options ...emulatortest.Option) *bundle {
	t.Helper()
	ctx := t.Context()
	b := &bundle{client: emulatortest.New(t, options...).Client(nil)}
	b.database = emulatortest.DatabaseID(t, b.client, "webstore")
	var err error
	b.Store, err = webstore.Open(ctx, b.client, b.database)
	check(t, err)
	for i := range 6 {
		tag := &webstore.Tag{Name: fmt.Sprintf("tag %d", i)}
		tag.ID = fmt.Sprintf("t%d", i)
		check(t, b.Tags.Global().Create(ctx, tag))
	}
	for i := range 4 {
		category := &webstore.Category{Name: fmt.Sprintf("category %d", i)}
		category.ID = fmt.Sprintf("k%d", i)
		check(t, b.Categories.Global().Create(ctx, category))
		for j := range 10 {
			product := &webstore.Product{SKU: fmt.Sprintf("S-%d-%d", i, j), Name: fmt.Sprintf("product %d-%d", i, j), Price: float64(j)}
			product.ID = fmt.Sprintf("p%d%d", i, j)
			product.Tags = []webstore.ProductTag{{ID: tenantitem.Ref[webstore.Tag](fmt.Sprintf("t%d", j%6))}, {ID: tenantitem.Ref[webstore.Tag](fmt.Sprintf("t%d", (j+1)%6))}}
			check(t, b.Products.Global(category.Ref()).Create(ctx, product))
		}
	}
	for i := range 12 {
		id := fmt.Sprintf("c%02d", i)
		check(t, b.Customers.Global().Create(ctx, customer(id)))
		for range i {
			check(t, b.NewOrder(ctx, id, order()))
		}
	}
	return b
}

var opened = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func customer(id string) *webstore.Customer {
	c := &webstore.Customer{
		FirstName: "Ada", LastName: "Byron", EmailAddress: id + "@example.com", CreationDate: opened,
		Addresses: []webstore.Address{{AddressLine1: "1 Mill Road", City: "London", Country: "GB", ZipCode: "N1"}},
		Password:  webstore.Password{Hash: "aGFzaA==", Salt: "c2FsdA=="},
	}
	c.ID = id
	return c
}

func order() *webstore.SalesOrder {
	return &webstore.SalesOrder{OrderDate: opened, Details: []webstore.Detail{{SKU: "S-0-1", Name: "product 0-1", Price: 1, Quantity: 2}}}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func all[T any](t *testing.T, rows iter.Seq2[*T, error]) []*T {
	t.Helper()
	var out []*T
	for row, err := range rows {
		check(t, err)
		out = append(out, row)
	}
	return out
}

// onEach runs a test in an undisturbed account, in one of several physical
// partitions, and in one that does what the service may do at any time.
func onEach(t *testing.T, test func(t *testing.T, b *bundle)) {
	for kind, options := range map[string][]emulatortest.Option{"kind": nil, "three partitions": {emulatortest.WithPartitions(3)}, "unkind": {emulatortest.Unkind(11)}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t, options...))
		})
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		five, err := b.Customer(ctx, "c05")
		check(t, err)
		if five.SalesOrderCount != 5 || five.Addresses[0].City != "London" || five.Password.Salt != "c2FsdA==" || five.TenantID != "" {
			t.Errorf("the customer is %d orders in %d addresses of tenant %q", five.SalesOrderCount, len(five.Addresses), five.TenantID)
		}
		if _, err := b.Customer(ctx, "nobody"); !errors.Is(err, repository.ErrNotFound) {
			t.Error("a customer that is not there:", err)
		}
		five, orders, more, err := b.CustomerWithOrders(ctx, "c05")
		check(t, err)
		if five.ID != "c05" || len(orders) != 5 || more || orders[0].Details[0].Quantity != 2 {
			t.Errorf("%q with %d orders, more %t", five.ID, len(orders), more)
		}
		if _, _, _, err := b.CustomerWithOrders(ctx, "nobody"); !errors.Is(err, repository.ErrNotFound) {
			t.Error("a customer that is not there, with orders:", err)
		}
		for _, o := range all(t, b.OrdersOf(ctx, "c05")) {
			if o.CustomerID != "c05" || o.EntityType != "salesOrder" {
				t.Errorf("an order of %q, a %s", o.CustomerID, o.EntityType)
			}
		}
		if n := len(all(t, b.OrdersOf(ctx, "c05"))); n != 5 {
			t.Errorf("%d orders", n)
		}
		var top []int
		for _, c := range all(t, b.TopCustomers(ctx, 4)) {
			top = append(top, c.SalesOrderCount)
		}
		if !slices.Equal(top, []int{11, 10, 9, 8}) {
			t.Errorf("the top customers have %v", top)
		}
		if categories, tags := all(t, b.AllCategories(ctx)), all(t, b.AllTags(ctx)); len(categories) != 4 || len(tags) != 6 {
			t.Errorf("%d categories and %d tags", len(categories), len(tags))
		}
		products := all(t, b.ProductsOf(ctx, "k2"))
		if len(products) != 10 {
			t.Errorf("%d products", len(products))
		}
		for _, p := range products {
			if p.CategoryName != "category 2" || len(p.Tags) != 2 || p.Tags[0].Name != "tag "+p.Tags[0].ID.String()[1:] {
				t.Errorf("product %s is of %q, with %v", p.ID, p.CategoryName, p.Tags)
			}
		}
	})
}

// An order and its count are one transaction: an order that fails leaves the
// count as it was, and one that is deleted takes itself off.
func TestNewOrder(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		count := func() int {
			c, err := b.Customer(ctx, "c03")
			check(t, err)
			return c.SalesOrderCount
		}
		o := order()
		check(t, b.NewOrder(ctx, "c03", o))
		if count() != 4 {
			t.Errorf("the count is %d", count())
		}
		again := order()
		again.ID = o.ID
		if err := b.NewOrder(ctx, "c03", again); !errors.Is(err, repository.ErrConflict) || count() != 4 {
			t.Errorf("an order created twice: %v, the count is %d", err, count())
		}
		check(t, b.Orders.Global("c03").Delete(ctx, o.ID, nil))
		check(t, b.Keeper.CatchUp(ctx))
		if _, orders, _, err := b.CustomerWithOrders(ctx, "c03"); count() != 3 || len(orders) != 3 {
			t.Errorf("the count is %d of %d orders: %v", count(), len(orders), err)
		}
	})
}

func TestRenamesReachEveryProduct(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		check(t, b.Keeper.CatchUp(ctx))
		check(t, b.RenameCategory(ctx, "k1", "the first"))
		check(t, b.RenameTag(ctx, "t4", "the fourth"))
		check(t, b.Keeper.CatchUp(ctx))
		tagged := 0
		for _, p := range all(t, b.Products.Global().Query(ctx, repository.All())) {
			want := "category " + p.CategoryID.String()[1:]
			if p.CategoryID == "k1" {
				want = "the first"
			}
			if p.CategoryName != want {
				t.Errorf("product %s is of %q", p.ID, p.CategoryName)
			}
			for _, tag := range p.Tags {
				want := "tag " + tag.ID.String()[1:]
				if tag.ID == "t4" {
					tagged, want = tagged+1, "the fourth"
				}
				if tag.Name != want {
					t.Errorf("product %s has the tag %q as %q", p.ID, tag.ID, tag.Name)
				}
			}
		}
		if tagged != 12 {
			t.Errorf("%d products have the tag", tagged)
		}
		if n, err := b.Products.Global().Count(ctx, repository.All()); err != nil || n != 40 {
			t.Errorf("%d products: %v", n, err)
		}
	})
}

// What stands in the containers is the articles' form, and what their other
// writers put there is read.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	raw := func(container string) *azcosmos.ContainerClient {
		c, err := b.client.NewContainer(b.database, container)
		check(t, err)
		return c
	}
	check(t, b.NewOrder(ctx, "c00", func() *webstore.SalesOrder { o := order(); o.ID = "o1"; return o }()))
	for _, tc := range []struct{ container, key, id, want string }{
		{"customer", "c00", "c00", `{"type":"customer","customerId":"c00","title":"","firstName":"Ada","salesOrderCount":1,"creationDate":"2026-01-02T03:04:05.0000000Z"}`},
		{"customer", "c00", "o1", `{"type":"salesOrder","customerId":"c00","details":[{"sku":"S-0-1","name":"product 0-1","price":1,"quantity":2}]}`},
		{"product", "k1", "p13", `{"type":null,"categoryId":"k1","categoryName":"category 1","tags":[{"id":"t3","name":"tag 3"},{"id":"t4","name":"tag 4"}]}`},
		{"productMeta", "category", "k1", `{"type":"category","name":"category 1"}`},
		{"productMeta", "tag", "t1", `{"type":"tag","name":"tag 1"}`},
	} {
		item, err := raw(tc.container).ReadItem(ctx, azcosmos.NewPartitionKeyString(tc.key), tc.id, nil)
		check(t, err)
		var have, want map[string]any
		check(t, json.Unmarshal(item.Value, &have))
		check(t, json.Unmarshal([]byte(tc.want), &want))
		for _, grove := range []string{"tenantId", "entityType"} {
			want[grove] = nil
		}
		for name, v := range want {
			if fmt.Sprint(have[name]) != fmt.Sprint(v) {
				t.Errorf("%s holds %q as %v, want %v", tc.id, name, have[name], v)
			}
		}
	}
	theirs := `{"id":"theirs","type":"customer","customerId":"theirs","firstName":"Ben","loyalty":{"points":7},"salesOrderCount":0}`
	_, err := raw("customer").CreateItem(ctx, azcosmos.NewPartitionKeyString("theirs"), []byte(theirs), nil)
	check(t, err)
	check(t, b.NewOrder(ctx, "theirs", order()))
	ben, orders, _, err := b.CustomerWithOrders(ctx, "theirs")
	check(t, err)
	if ben.FirstName != "Ben" || ben.SalesOrderCount != 1 || len(orders) != 1 {
		t.Errorf("their customer is %q with %d of %d orders", ben.FirstName, ben.SalesOrderCount, len(orders))
	}
	item, err := raw("customer").ReadItem(ctx, azcosmos.NewPartitionKeyString("theirs"), "theirs", nil)
	check(t, err)
	if !strings.Contains(string(item.Value), `"loyalty"`) {
		t.Error("the count cost them a member")
	}
}

// The figures of docs/layouts.md.
func TestWhatEachQuestionCosts(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "the page's figures are the modelled charges")
	b := setup(t, emulatortest.Calm())
	check(t, b.Keeper.CatchUp(t.Context()))
	page, err := os.ReadFile("../../../docs/layouts.md")
	check(t, err)
	for _, question := range []struct {
		row string
		ask func(ctx context.Context) error
	}{
		{"a customer by its id", func(ctx context.Context) error { _, err := b.Customer(ctx, "c05"); return err }},
		{"a customer with all orders (5)", func(ctx context.Context) error { _, _, _, err := b.CustomerWithOrders(ctx, "c05"); return err }},
		{"the orders alone (5)", func(ctx context.Context) error { all(t, b.OrdersOf(ctx, "c05")); return nil }},
		{"all categories (4)", func(ctx context.Context) error { all(t, b.AllCategories(ctx)); return nil }},
		{"all tags (6)", func(ctx context.Context) error { all(t, b.AllTags(ctx)); return nil }},
		{"the products of a category (10)", func(ctx context.Context) error { all(t, b.ProductsOf(ctx, "k1")); return nil }},
		{"the top 10 customers of 12", func(ctx context.Context) error { all(t, b.TopCustomers(ctx, 10)); return nil }},
		{"a new order with its count", func(ctx context.Context) error { return b.NewOrder(ctx, "c05", order()) }},
		{"a category is renamed", func(ctx context.Context) error { return b.RenameCategory(ctx, "k1", "renamed") }},
		{"… and reaches its 10 products", func(ctx context.Context) error { return b.Keeper.CatchUp(ctx) }},
		{"a tag is renamed", func(ctx context.Context) error { return b.RenameTag(ctx, "t4", "renamed") }},
		{"… and reaches its 12 products", func(ctx context.Context) error { return b.Keeper.CatchUp(ctx) }},
	} {
		ctx, tally := repository.WithTally(t.Context())
		check(t, question.ask(ctx))
		want := fmt.Sprintf("| %s | %d | %.1f |", question.row, tally.Requests(), tally.RequestUnits())
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/layouts.md says %q, it is %q", regexp.MustCompile(`(?m)^\| `+regexp.QuoteMeta(question.row)+` \|.*`).FindString(string(page)), want)
		}
	}
}

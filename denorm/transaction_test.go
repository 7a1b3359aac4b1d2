package denorm_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A shop whose documents lie with their customer, under /tenantId,/customerId:
// what is kept of them changes in their own transaction, without the feed.

type Customer struct {
	tenantitem.TenantItem[Customer]
	CustomerID string      `json:"customerId"`
	Name       string      `json:"name"`
	OrderCount int         `json:"orderCount"`
	LastOrders []OrderCard `json:"lastOrders"`
	Calls      int         `json:"calls"`
}

type OrderCard struct {
	ID    tenantitem.Ref[Order] `json:"id"`
	Title string                `json:"title"`
}

type Order struct {
	tenantitem.TenantItem[Order]
	CustomerID tenantitem.Ref[Customer]  `json:"customerId"`
	BuyerID    tenantitem.Ref[Customer]  `json:"buyerId,omitempty"`
	PreviousID tenantitem.Ref[Order]     `json:"previousId,omitempty"`
	Title      string                    `json:"title"`
	Notes      []string                  `json:"notes,omitempty"`
	Labels     []tenantitem.Ref[Sticker] `json:"labels"`
	FollowUps  int                       `json:"followUps"`
	LineCount  int                       `json:"lineCount"`
	LastLines  []LineCard                `json:"lastLines"`
}

// LineCard has no id, so that a list of them does not tell whose they are.
type LineCard struct {
	Text string `json:"text"`
}

type Line struct {
	parented.ParentedItem[Line, Order]
	CustomerID string `json:"customerId"`
	Text       string `json:"text"`
}

type Sticker struct {
	tenantitem.TenantItem[Sticker]
	CustomerID string                  `json:"customerId"`
	Text       string                  `json:"text"`
	Orders     []tenantitem.Ref[Order] `json:"orders"`
}

// Call is only counted: its customer need not be read for that.
type Call struct {
	tenantitem.TenantItem[Call]
	CustomerID tenantitem.Ref[Customer] `json:"customerId"`
}

func nearDeclarations() []denorm.Declaration {
	return []denorm.Declaration{
		denorm.CountOf[Customer, Order]("orderCount", "buyerId"),
		denorm.RecentOf[Customer, Order]("lastOrders", 2, "buyerId"),
		denorm.CountOf[Customer, Call]("calls", "customerId"),
		denorm.CountOf[Order, Order]("followUps", "previousId"),
		denorm.CountOf[Order, Line]("lineCount", "parentId"),
		denorm.RecentOf[Order, Line]("lastLines", 2),
		denorm.LinkOf[Order, Sticker]("labels", "orders"),
	}
}

// nearBundle is an application whose feed is followed only when it is asked to.
type nearBundle struct {
	*testBundle
	customers *repository.Repository[Customer]
	orders    *repository.Repository[Order]
	lines     *parented.Repository[Line, Order]
	stickers  *repository.Repository[Sticker]
	calls     *repository.Repository[Call]
}

func setupNear(t testing.TB, opts ...emulatortest.Option) *nearBundle {
	t.Helper()
	return setupNearOn(t, emulatortest.New(t, opts...))
}

func setupNearOn(t testing.TB, emu *emulatortest.Emulator) *nearBundle {
	t.Helper()
	b := &nearBundle{testBundle: &testBundle{t: t, ctx: t.Context(), emu: emu}}
	b.client = b.emu.Client(quickly())
	b.db, b.keeper = openNear(t, b.client, "")
	if err := b.db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.customers, b.orders, b.stickers, b.calls = repo[Customer](t, b.db), repo[Order](t, b.db), repo[Sticker](t, b.db), repo[Call](t, b.db)
	var err error
	if b.lines, err = registry.ChildrenOf[Line, Order](b.db); err != nil {
		t.Fatal(err)
	}
	return b
}

func openNear(t testing.TB, client *azcosmos.Client, name string) (*registry.Database, *denorm.Keeper) {
	t.Helper()
	return openLayout(t, client, name, sharedLayout("/tenantId", "/customerId"), []registry.Declaration{
		registry.EntityOf[Customer](registry.In("shop")),
		registry.EntityOf[Order](registry.In("shop"), registry.SoftDelete(time.Hour), registry.UniqueIDs()),
		registry.ChildOf[Line, Order](parented.Cascade, registry.In("shop")),
		registry.EntityOf[Sticker](registry.In("shop")),
		registry.EntityOf[Call](registry.In("shop")),
	}, nearDeclarations())
}

// sharedLayout has a container of that key.
func sharedLayout(key ...string) registry.Config {
	cfg := layout()
	cfg.Containers = []registry.Container{{ID: "shop", PartitionKey: key}}
	return cfg
}

func (b *nearBundle) customer(id string) *Customer {
	b.t.Helper()
	c := &Customer{Name: id}
	c.ID = id
	b.must(b.customers.In(acme, id).Create(b.ctx, c))
	return c
}

func (b *nearBundle) order(customer, title string) *Order {
	b.t.Helper()
	o := &Order{BuyerID: tenantitem.Ref[Customer](customer), Title: title}
	b.must(b.orders.In(acme, customer).Create(b.ctx, o))
	return o
}

// shows compares what a customer keeps of its orders.
func (b *nearBundle) shows(customer string, count int, titles ...string) {
	b.t.Helper()
	c, err := b.customers.In(acme, customer).Get(b.ctx, customer)
	b.must(err)
	var have []string
	for _, card := range c.LastOrders {
		have = append(have, card.Title)
	}
	if c.OrderCount != count || !slices.Equal(have, titles) {
		b.t.Errorf("%d orders, the last are %q; want %d and %q", c.OrderCount, have, count, titles)
	}
}

func TestWhatIsKeptChangesInTheSameTransaction(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	orders := b.orders.In(acme, "c1")
	var deleted string
	steps := []struct {
		name   string
		do     func() error
		count  int
		titles []string
	}{
		{"create", func() error { b.order("c1", "one"); return nil }, 1, []string{"one"}},
		{"create more", func() error { b.order("c1", "two"); b.order("c1", "three"); return nil }, 3, []string{"three", "two"}},
		{"mutate", func() error {
			_, err := orders.Mutate(b.ctx, b.newest("c1").ID, func(o *Order) error { o.Title = "THREE"; return nil })
			return err
		}, 3, []string{"THREE", "two"}},
		{"patch", func() error {
			_, err := orders.Patch(b.ctx, b.newest("c1").ID, repository.Set("/title", "3").Add("/notes", []string{"n"}))
			return err
		}, 3, []string{"3", "two"}},
		{"replace", func() error {
			o := b.newest("c1")
			o.Title = "III"
			return orders.Replace(b.ctx, o)
		}, 3, []string{"III", "two"}},
		{"put over another", func() error {
			o := b.newest("c1")
			o.Title, o.ETag = "trois", ""
			return orders.Upsert(b.ctx, o)
		}, 3, []string{"trois", "two"}},
		{"put anew", func() error {
			o := &Order{BuyerID: "c1", Title: "oldest"}
			o.ID = "0"
			return orders.Upsert(b.ctx, o)
		}, 4, []string{"trois", "two"}},
		{"leave", func() error {
			_, err := orders.Mutate(b.ctx, b.newest("c1").ID, func(o *Order) error { o.BuyerID = ""; return nil })
			return err
		}, 3, []string{"two", "one"}},
		{"delete", func() error {
			o, err := orders.First(b.ctx, repository.Where(repository.Eq("title", "two")))
			if err != nil {
				return err
			}
			deleted = o.ID
			return orders.Delete(b.ctx, deleted, nil)
		}, 2, []string{"one", "oldest"}},
		{"restore", func() error { return orders.Restore(b.ctx, deleted) }, 3, []string{"two", "one"}},
		{"many", func() error {
			var many []*Order
			for i := range 150 {
				many = append(many, &Order{BuyerID: "c1", Title: fmt.Sprint("bulk ", i)})
			}
			_, err := orders.SaveAll(b.ctx, slices.Values(many), nil)
			return err
		}, 153, nil},
		{"batch", func() error {
			return orders.Batch().Create(&Order{BuyerID: "c1", Title: "b1"}).Patch("0", repository.Set("/title", "zero")).Create(&Order{BuyerID: "c1", Title: "b2"}).Commit(b.ctx)
		}, 155, []string{"b2", "b1"}},
		{"delete many", func() error {
			var ids []string
			for o, err := range orders.Query(b.ctx, repository.Where(repository.StartsWith("title", "bulk"))) {
				if err != nil {
					return err
				}
				ids = append(ids, o.ID)
			}
			_, err := orders.DeleteAll(b.ctx, slices.Values(ids), nil)
			return err
		}, 5, []string{"b2", "b1"}},
		{"mutate what is kept", func() error {
			_, err := b.customers.In(acme, "c1").Mutate(b.ctx, "c1", func(c *Customer) error { c.OrderCount, c.LastOrders = 9, nil; return nil })
			return err
		}, 5, []string{"b2", "b1"}},
		{"put the customer", func() error {
			c := &Customer{Name: "new name", OrderCount: 77}
			c.ID = "c1"
			return b.customers.In(acme, "c1").Upsert(b.ctx, c)
		}, 5, []string{"b2", "b1"}},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if s.name == "many" {
			continue // which of them are the newest is compared below
		}
		t.Log(s.name)
		b.shows("c1", s.count, s.titles...)
	}
	b.catchUp()
	b.noDrift()
	b.shows("c1", 5, "b2", "b1")
}

func (b *nearBundle) newest(customer string) *Order {
	b.t.Helper()
	o, err := b.orders.In(acme, customer).First(b.ctx, repository.Where(repository.Eq("buyerId", customer)).OrderByDesc("id"))
	b.must(err)
	return o
}

func TestACustomerAndItsOrdersInOneBatch(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	c := &Customer{Name: "new"}
	c.ID = "c1"
	customer := b.customers.In(acme, "c1").Batch().Create(c)
	orders := b.orders.In(acme, "c1").Batch().Create(&Order{BuyerID: "c1", Title: "one"}).Create(&Order{BuyerID: "c1", Title: "two"})
	b.must(partition.Commit(b.ctx, customer, orders))
	b.shows("c1", 2, "two", "one")
	if c.OrderCount != 2 || len(c.LastOrders) != 2 {
		t.Errorf("the entity has %d orders and %v", c.OrderCount, c.LastOrders)
	}
	c.Name = "newer"
	b.must(b.customers.In(acme, "c1").Replace(b.ctx, c)) // its etag is the one after all
	b.shows("c1", 2, "two", "one")
}

func TestABulkOfCountedDocumentsIsBatches(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	many := make([]*Call, 1000)
	for i := range many {
		many[i] = &Call{}
	}
	ctx, tally := repository.WithTally(b.ctx)
	_, err := b.calls.In(acme, "c1").SaveAll(ctx, slices.Values(many), nil)
	b.must(err)
	if n := tally.Requests(); n > 13 {
		t.Errorf("%d requests for 1000 documents", n)
	}
	c, err := b.customers.In(acme, "c1").Get(b.ctx, "c1")
	b.must(err)
	if c.Calls != 1000 {
		t.Errorf("%d calls", c.Calls)
	}
}

// A count alone costs no read: the parent's id is the partition's.
func TestACountInTheSamePartitionIsOneBatch(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	calls := b.calls.In(acme, "c1")
	asked := b.requests(func() { b.must(calls.Create(b.ctx, &Call{})) })
	if asked[emulator.TransactionalBatch] != 1 || len(asked) != 1 {
		t.Errorf("%v", asked)
	}
	// Where there is no such customer, the call is created all the same.
	b.must(b.calls.In(acme, "nobody").Create(b.ctx, &Call{}))
	for range 4 {
		b.must(calls.Create(b.ctx, &Call{}))
	}
	first, err := calls.First(b.ctx, repository.All())
	b.must(err)
	b.must(calls.Delete(b.ctx, first.ID, nil))
	c, err := b.customers.In(acme, "c1").Get(b.ctx, "c1")
	b.must(err)
	if c.Calls != 4 {
		t.Errorf("%d calls", c.Calls)
	}
	b.catchUp()
	b.noDrift()
}

package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// store draws random work on one account in which everything lies with its
// customer, so that after every step everything is true, although nobody
// follows the feed.
type store struct {
	*nearBundle
	r         *rapid.T
	customers []string
	orders    map[string][]string // by customer, deleted ones included
	stickers  map[string][]string
	names     int
}

func TestEverythingIsTrueAfterEveryWrite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := &store{nearBundle: setupNear(t), r: r, orders: map[string][]string{}, stickers: map[string][]string{}}
		s.t = r
		for i := range 2 {
			id := fmt.Sprint("c", i)
			s.customer(id)
			s.customers = append(s.customers, id)
		}
		var point []lease
		processes := []*registry.Database{s.db}
		for i := range rapid.IntRange(1, 25).Draw(r, "steps") {
			what := s.step()
			s.compare(what)
			switch s.pick("feed", 10) {
			case 0:
				s.catchUp()
				s.handOver(processes...)
				s.compare("catching up")
				if i%2 == 0 {
					point = s.leases()
				}
			case 1:
				if point != nil {
					s.rewind(point)
					var db *registry.Database
					db, s.keeper = openNear(t, s.client, "")
					processes = append(processes, db)
					s.catchUp()
					s.handOver(db)
					s.compare("a replay from somewhere")
				}
			}
		}
		s.catchUp()
		s.handOver(processes...)
		s.noDrift()
		s.compare("catching up")
		db, again := openNear(t, s.client, "again")
		s.must(again.CatchUp(s.ctx))
		s.handOver(db)
		s.noDrift()
		s.compare("a replay")
	})
}

func (s *store) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(s.r, what) }

func (s *store) any(ids []string, what string) string {
	if i := s.pick(what, len(ids)+1); i < len(ids) {
		return ids[i]
	}
	return ""
}

func (s *store) name() string {
	s.names++
	return fmt.Sprint("n", s.names)
}

// tried passes over what may fail when documents come and go.
func (s *store) tried(err error) bool {
	s.t.Helper()
	for _, fine := range []error{repository.ErrNotFound, repository.ErrConflict, repository.ErrDanglingRef} {
		if errors.Is(err, fine) {
			return false
		}
	}
	s.must(err)
	return true
}

func (s *store) newOrder(customer string) *Order {
	o := &Order{Title: s.name(), PreviousID: tenantitem.Ref[Order](s.any(s.orders[customer], "previous"))}
	if s.pick("buys", 4) > 0 {
		o.BuyerID = tenantitem.Ref[Customer](customer)
	}
	if id := s.any(s.stickers[customer], "label"); id != "" {
		o.Labels = []tenantitem.Ref[Sticker]{tenantitem.Ref[Sticker](id)}
	}
	return o
}

func (s *store) step() string {
	customer := s.customers[s.pick("customer", len(s.customers))]
	orders, stickers := s.nearBundle.orders.In(acme, customer), s.nearBundle.stickers.In(acme, customer)
	order := s.any(s.orders[customer], "order")
	sticker := s.any(s.stickers[customer], "sticker")
	switch s.pick("step", 16) {
	case 0, 1:
		o := s.newOrder(customer)
		if s.tried(orders.Create(s.ctx, o)) {
			s.orders[customer] = append(s.orders[customer], o.ID)
		}
		return "create an order"
	case 2:
		many := []*Order{s.newOrder(customer), s.newOrder(customer), s.newOrder(customer)}
		receipt, err := orders.SaveAll(s.ctx, slices.Values(many), nil)
		if err != nil && receipt == nil {
			s.t.Fatal(err)
		}
		for _, item := range receipt.Items {
			if item.Err == nil {
				s.orders[customer] = append(s.orders[customer], item.ID)
			}
		}
		return "save many"
	case 3, 4:
		_, err := orders.Mutate(s.ctx, order0(order), func(o *Order) error {
			next := s.newOrder(customer)
			o.Title, o.BuyerID, o.PreviousID, o.Labels = next.Title, next.BuyerID, next.PreviousID, next.Labels
			return nil
		})
		s.tried(err)
		return "mutate an order"
	case 5:
		_, err := orders.Patch(s.ctx, order0(order), repository.Set("/title", s.name()))
		s.tried(err)
		return "patch an order"
	case 6:
		o := s.newOrder(customer)
		o.ID = order
		if s.tried(orders.Upsert(s.ctx, o)) && order == "" {
			s.orders[customer] = append(s.orders[customer], o.ID)
		}
		return "put an order"
	case 7:
		s.tried(orders.Delete(s.ctx, order0(order), nil))
		return "delete an order"
	case 8:
		s.tried(orders.Restore(s.ctx, order0(order)))
		return "restore an order"
	case 9, 10:
		s.tried(s.lines.UnderID(acme, tenantitem.Ref[Order](order0(order))).Create(s.ctx, &Line{CustomerID: customer, Text: s.name()}))
		return "create a line"
	case 11:
		l, err := s.lines.In(acme, customer).First(s.ctx, repository.All())
		if !s.tried(err) {
			return "no line"
		}
		switch s.pick("line", 3) {
		case 0:
			s.tried(s.lines.In(acme, customer).Delete(s.ctx, l.ID, nil))
			return "delete a line"
		case 1:
			s.tried(s.lines.Move(s.ctx, acme, l.ID, tenantitem.Ref[Order](order0(order))))
			return "move a line"
		default:
			_, err := s.lines.In(acme, customer).Patch(s.ctx, l.ID, repository.Set("/text", s.name()))
			s.tried(err)
			return "patch a line"
		}
	case 12:
		sticker := &Sticker{Text: s.name()}
		if order != "" {
			sticker.Orders = []tenantitem.Ref[Order]{tenantitem.Ref[Order](order)}
		}
		if s.tried(stickers.Create(s.ctx, sticker)) {
			s.stickers[customer] = append(s.stickers[customer], sticker.ID)
		}
		return "create a sticker"
	case 13:
		_, err := stickers.Mutate(s.ctx, order0(sticker), func(l *Sticker) error {
			if order != "" {
				l.Orders = toggle(l.Orders, tenantitem.Ref[Order](order))
			}
			return nil
		})
		s.tried(err)
		return "mutate a sticker"
	case 14:
		s.tried(stickers.Delete(s.ctx, order0(sticker), nil))
		return "delete a sticker"
	default:
		o, l := s.newOrder(customer), &Sticker{Text: s.name()}
		o.ID, l.ID = s.name(), s.name()
		o.Labels, l.Orders = nil, []tenantitem.Ref[Order]{tenantitem.Ref[Order](order0(order))}
		err := partition.Commit(s.ctx, orders.Batch().Create(o).Patch(o.ID, repository.Set("/title", s.name())), stickers.Batch().Create(l))
		if s.tried(err) {
			s.orders[customer] = append(s.orders[customer], o.ID)
			s.stickers[customer] = append(s.stickers[customer], l.ID)
		}
		return "a batch"
	}
}

// order0 is an id that may be one of a document.
func order0(id string) string {
	if id == "" {
		return "none"
	}
	return id
}

// compare computes everything by itself, from all documents.
func (b *nearBundle) compare(after string) {
	b.t.Helper()
	orders, stickers, customers := all(b, b.orders.In(acme)), all(b, b.stickers.In(acme)), all(b, b.customers.In(acme))
	bought, follow, lines := map[string][]*Order{}, map[string]int{}, map[string][]*Line{}
	for _, o := range orders {
		bought[string(o.BuyerID)] = append(bought[string(o.BuyerID)], o)
		follow[string(o.PreviousID)]++
		for _, id := range o.Labels {
			if l := stickers[string(id)]; l == nil || !slices.Contains(l.Orders, o.Ref()) {
				b.t.Errorf("after %s: order %s lists sticker %s, which does not list it", after, o.ID, id)
			}
		}
	}
	for _, l := range all(b, b.lines.In(acme)) {
		lines[string(l.ParentID)] = append(lines[string(l.ParentID)], l)
	}
	for _, l := range stickers {
		for _, id := range l.Orders {
			if o := orders[string(id)]; o == nil || !slices.Contains(o.Labels, l.Ref()) {
				b.t.Errorf("after %s: sticker %s lists order %s, which does not list it", after, l.ID, id)
			}
		}
	}
	for _, c := range customers {
		of := bought[c.ID]
		slices.SortFunc(of, func(x, y *Order) int { return strings.Compare(y.ID, x.ID) })
		var want []OrderCard
		for _, o := range of[:min(2, len(of))] {
			want = append(want, OrderCard{o.Ref(), o.Title})
		}
		if c.OrderCount != len(of) || !slices.Equal(c.LastOrders, want) && len(c.LastOrders)+len(want) > 0 {
			b.t.Errorf("after %s: customer %s has %d orders, %v; want %d, %v", after, c.ID, c.OrderCount, c.LastOrders, len(of), want)
		}
	}
	for _, o := range orders {
		of := lines[o.ID]
		slices.SortFunc(of, func(x, y *Line) int { return strings.Compare(y.ID, x.ID) })
		var want []LineCard
		for _, l := range of[:min(2, len(of))] {
			want = append(want, LineCard{l.Text})
		}
		if o.LineCount != len(of) || !slices.Equal(o.LastLines, want) && len(o.LastLines)+len(want) > 0 {
			b.t.Errorf("after %s: order %s has %d lines, %v; want %d, %v", after, o.ID, o.LineCount, o.LastLines, len(of), want)
		}
		if o.FollowUps != follow[o.ID] {
			b.t.Errorf("after %s: order %s has %d that follow it, want %d", after, o.ID, o.FollowUps, follow[o.ID])
		}
	}
}

func all[T any](b *nearBundle, scope *repository.Scope[T]) map[string]*T {
	b.t.Helper()
	out := map[string]*T{}
	for e, err := range scope.Query(b.ctx, repository.All()) {
		b.must(err)
		item, _ := any(e).(interface{ ItemMeta() *tenantitem.Meta })
		out[item.ItemMeta().ID] = e
	}
	return out
}

// Writers of two applications, under failing requests and lost answers: what
// they leave is true without anybody following the feed.
func TestFaultsLeaveTransactionsTrue(t *testing.T) {
	t.Parallel()
	b := setupNear(t, emulatortest.WithPartitions(2))
	b.customer("c0")
	b.customer("c1")
	second, _ := openNear(t, b.client, "")
	for i, fault := range []emulator.Fault{emulator.Answer(500, 0), emulator.Answer(500, 0).AfterEffect()} {
		b.emu.Fault(fault.On(emulator.CreateItem, emulator.ReplaceItem, emulator.PatchItem, emulator.ReadItem, emulator.QueryItems, emulator.TransactionalBatch).
			Keep().Probability(0.1, uint64(i+1)))
	}
	ctx, end := context.WithTimeout(t.Context(), max(spell()/4, 2*time.Second))
	defer end()
	var group sync.WaitGroup
	for w, orders := range []*repository.Repository[Order]{b.orders, repo[Order](t, second), b.orders} {
		group.Go(func() { b.work(ctx, rand.New(rand.NewPCG(uint64(w), 3)), orders) })
	}
	group.Wait()
	b.emu.Faults().Clear()
	if t.Failed() {
		return
	}
	b.handOver(second)
	b.compare("concurrent writes")
	b.catchUp()
	b.noDrift()
	b.compare("catching up")
	n, err := b.orders.In(acme).Count(b.ctx, repository.All())
	b.must(err)
	t.Logf("%d orders", n)
}

func (b *nearBundle) work(ctx context.Context, random *rand.Rand, orders *repository.Repository[Order]) {
	var mine []*Order
	var stickers []*Sticker
	for i := 0; ctx.Err() == nil; i++ {
		customer := fmt.Sprint("c", random.IntN(2))
		if len(mine) == 0 || random.IntN(4) == 0 {
			o := &Order{Title: fmt.Sprint("t", i), BuyerID: tenantitem.Ref[Customer](customer)}
			if b.tolerate(ctx, orders.In(acme, customer).Create(ctx, o)) {
				mine = append(mine, o)
			}
			continue
		}
		o := one(random, mine)
		customer = string(o.CustomerID)
		switch random.IntN(6) {
		case 0:
			_, err := orders.In(acme, customer).Mutate(ctx, o.ID, func(o *Order) error {
				o.Title += "x"
				o.BuyerID = tenantitem.Ref[Customer](map[bool]string{true: customer}[o.BuyerID == ""])
				return nil
			})
			b.tolerate(ctx, err)
		case 1:
			l := &Line{CustomerID: customer, Text: fmt.Sprint(i)}
			if b.tolerate(ctx, b.lines.UnderID(acme, o.Ref()).Create(ctx, l)) && random.IntN(2) == 0 {
				b.tolerate(ctx, b.lines.In(acme, customer).Delete(ctx, l.ID, nil))
			}
		case 2:
			s := &Sticker{Text: fmt.Sprint(i), Orders: []tenantitem.Ref[Order]{o.Ref()}}
			if b.tolerate(ctx, b.stickers.In(acme, customer).Create(ctx, s)) {
				stickers = append(stickers, s)
			}
		case 3:
			if len(stickers) > 0 {
				s := one(random, stickers)
				_, err := b.stickers.In(acme, s.CustomerID).Mutate(ctx, s.ID, func(s *Sticker) error {
					if s.CustomerID == customer {
						s.Orders = toggle(s.Orders, o.Ref())
					}
					return nil
				})
				b.tolerate(ctx, err)
			}
		case 4:
			many := []*Order{{Title: "m", BuyerID: tenantitem.Ref[Customer](customer), PreviousID: o.Ref()}, {Title: "n", BuyerID: tenantitem.Ref[Customer](customer)}}
			_, err := orders.In(acme, customer).SaveAll(ctx, slices.Values(many), nil)
			b.tolerate(ctx, err)
		default:
			_, err := orders.In(acme, customer).Patch(ctx, o.ID, repository.Set("/title", fmt.Sprint("p", i)))
			b.tolerate(ctx, err)
		}
	}
}

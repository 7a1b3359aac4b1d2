package denorm_test

import (
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

// A write is not taken for done because a companion of it can't be told apart.
func TestAPutThatWasNotAppliedIsSentAgain(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	b.order("c1", "one")
	b.emu.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	c := &Customer{Name: "new name"}
	c.ID = "c1"
	b.must(b.customers.In(acme, "c1").Upsert(b.ctx, c))
	got, err := b.customers.In(acme, "c1").Get(b.ctx, "c1")
	b.must(err)
	if got.Name != "new name" || got.ETag != c.ETag || got.OrderCount != 1 {
		t.Errorf("Upsert said it was done, stored is %q of %s with %d orders, etag %q", got.Name, got.ETag, got.OrderCount, c.ETag)
	}
}

func TestACreateThatRefersToItselfIsSentAgain(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.emu.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	o := &Order{Title: "self", PreviousID: "o1"}
	o.ID = "o1"
	b.must(b.orders.In(acme, "c1").Create(b.ctx, o))
	got, err := b.orders.In(acme, "c1").Get(b.ctx, o.ID)
	b.must(err)
	if got.FollowUps != 1 || got.ETag != o.ETag {
		t.Errorf("%d follow it, etag %s and %s", got.FollowUps, got.ETag, o.ETag)
	}
}

func TestARestoreThatWasNotAppliedIsSentAgain(t *testing.T) {
	t.Parallel()
	for n := 1; n < 4; n++ {
		b := setupNear(t)
		b.customer("c1")
		o := b.order("c1", "one")
		f := &Order{BuyerID: "c1", PreviousID: o.Ref(), Title: "two"}
		b.must(b.orders.In(acme, "c1").Create(b.ctx, f))
		b.must(b.orders.In(acme, "c1").Delete(b.ctx, o.ID, nil))
		b.must(b.orders.In(acme, "c1").Delete(b.ctx, f.ID, nil))
		b.emu.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch).Nth(n))
		b.must(b.orders.In(acme, "c1").Restore(b.ctx, o.ID))
		if _, err := b.orders.In(acme, "c1").Get(b.ctx, o.ID); err != nil {
			t.Errorf("batch %d: Restore said it was done: %v", n, err)
		}
	}
}

// Whichever way an answer is lost, what is kept is counted once.
func TestLostAnswersOfTransactions(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		b := setupNear(t)
		b.customer("c1")
		b.order("c1", "one")
		f := emulator.Answer(503, 0).On(emulator.TransactionalBatch)
		if after {
			f = f.AfterEffect()
		}
		b.emu.Fault(f)
		c := &Customer{Name: "new"}
		c.ID = "c1"
		b.must(partition.Commit(b.ctx, b.customers.In(acme, "c1").Batch().Upsert(c), b.orders.In(acme, "c1").Batch().Create(&Order{BuyerID: "c1", Title: "two"})))
		b.shows("c1", 2, "two", "one")
		if c.OrderCount != 2 {
			t.Errorf("%+v", c)
		}
		c.Name = "newer"
		b.must(b.customers.In(acme, "c1").Replace(b.ctx, c))
		// patches with increments and lost answers
		o := b.newest("c1")
		b.emu.Fault(f)
		_, err := b.orders.In(acme, "c1").Patch(b.ctx, o.ID, repository.Set("/title", "zz"))
		b.must(err)
		b.shows("c1", 2, "zz", "one")
		b.emu.Fault(f)
		_, err = b.orders.In(acme, "c1").Mutate(b.ctx, o.ID, func(o *Order) error { o.BuyerID = ""; return nil })
		b.must(err)
		b.shows("c1", 1, "one")
		b.emu.Fault(f)
		o = b.newest("c1")
		b.must(b.orders.In(acme, "c1").Delete(b.ctx, o.ID, nil))
		b.shows("c1", 0)
		b.emu.Fault(emulator.Cut().On(emulator.TransactionalBatch))
		b.must(b.orders.In(acme, "c1").Restore(b.ctx, o.ID))
		b.shows("c1", 1, "one")
		b.noDrift()
	}
}

func TestLostAnswersOfABulkOfDeletes(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	var ids []string
	for range 30 {
		ids = append(ids, b.order("c1", "x").ID)
	}
	b.emu.Fault(emulator.Answer(503, 0).AfterEffect().On(emulator.TransactionalBatch).Keep().Probability(0.3, 1))
	b.emu.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch).Keep().Probability(0.3, 2))
	receipt, err := b.orders.In(acme, "c1").DeleteAll(b.ctx, func(yield func(string) bool) {
		for _, id := range ids {
			if !yield(id) {
				return
			}
		}
	}, nil)
	b.emu.Faults().Clear()
	if receipt == nil {
		t.Fatal(err)
	}
	b.compare("delete all")
}

// Where a budget ends, nothing is half done.
func TestBudgetsAndTenantsOfTransactions(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	n := 0
	for ru := 1.0; ru < 60; ru += 3 {
		ctx, _ := repository.WithBudget(b.ctx, ru)
		o := &Order{BuyerID: "c1", Title: "x"}
		err := b.orders.In(acme, "c1").Create(ctx, o)
		if err == nil {
			n++
		} else if !errors.Is(err, repository.ErrBudget) {
			t.Error(err)
		}
		c, e := b.customers.In(acme, "c1").Get(b.ctx, "c1")
		b.must(e)
		if c.OrderCount != n {
			t.Errorf("with %v RU: %d orders, count is %d, %v", ru, n, c.OrderCount, err)
		}
	}
	err := b.orders.In(acme, "c1").Create(repository.WithTenant(b.ctx, "other"), &Order{BuyerID: "c1"})
	if !errors.Is(err, repository.ErrTenantMismatch) {
		t.Error(err)
	}
}

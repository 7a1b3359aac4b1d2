package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func newTestCeiling(t testing.TB, cfg CeilingConfig) *Ceiling {
	t.Helper()
	c, err := NewCeiling(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func spend(t testing.TB, c *Ceiling, tenant string, units float64) {
	t.Helper()
	taken, err := c.admit(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	c.spent(tenant, taken, units, 1)
}

// What a ceiling remembers is bounded, however many tenants come by, and a tenant
// that owes something is not forgotten: it would get another second's units at once.
func TestTenantsAreForgottenButNotWhatTheyOwe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTestCeiling(t, CeilingConfig{Total: 1e9, PerTenant: 1})
		const debt = 3600
		spend(t, c, "debtor", debt)
		spend(t, c, "quiet", 1)
		for i := range 3 * ceilingTenants {
			spend(t, c, fmt.Sprint("t", i), 0.5)
			time.Sleep(time.Millisecond)
		}
		use := c.Use()
		if n := len(use); n > ceilingTenants+ceilingTenants/10 { // those of the last second still owe
			t.Errorf("%d tenants are known", n)
		}
		if _, known := use["quiet"]; known {
			t.Error("a tenant is known that was used before 30,000 others")
		}
		time.Sleep(2 * ceilingMemory)
		for range ceilingTenants {
			spend(t, c, "last", 0)
		}
		if n := len(c.Use()); n > 2 {
			t.Errorf("%d tenants are known after a rest", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.admit(ctx, "debtor"); !errors.Is(err, ErrThrottled) {
			t.Error("a tenant was let through that owes for an hour:", err)
		}
		began := time.Now()
		spend(t, c, "debtor", 1)
		if waited := time.Since(began); waited > debt*time.Second {
			t.Errorf("the debt was waited for again: %v", waited)
		}
	})
}

// A tenant with a request under way is not forgotten: what the request costs is counted.
func TestATenantWithARequestIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTestCeiling(t, CeilingConfig{PerTenant: 100})
		taken, err := c.admit(t.Context(), "slow")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * ceilingMemory)
		for i := range 3 * ceilingTenants {
			spend(t, c, fmt.Sprint("t", i), 0)
		}
		c.spent("slow", taken, 500, 1)
		if use := c.Use()["slow"]; use.Requests != 1 || use.RequestUnits != 500 {
			t.Errorf("%+v", use)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.admit(ctx, "slow"); !errors.Is(err, ErrThrottled) {
			t.Error("it was let through 400 units above its rate:", err)
		}
	})
}

// A request that nothing holds back costs the same with one tenant and with thousands that are known.
//
//nolint:paralleltest // testing.AllocsPerRun refuses to run beside other tests
func TestARequestLooksAtItsOwnTenant(t *testing.T) {
	c := newTestCeiling(t, CeilingConfig{Total: 1e12, PerTenant: 1e12})
	for i := range ceilingTenants {
		spend(t, c, fmt.Sprint("t", i), 1)
	}
	allocs := testing.AllocsPerRun(10_000, func() { spend(t, c, "acme", 1) })
	if allocs > 1 { // its place among the tenants without a request
		t.Errorf("a request makes %v allocations", allocs)
	}
	alone := newTestCeiling(t, CeilingConfig{Total: 1e12, PerTenant: 1e12})
	one, many := fastest(t, alone), fastest(t, c)
	if many > 50*one { // a walk over the tenants takes a thousand times as long
		t.Errorf("a request takes %v with one tenant, %v with %d", one, many, len(c.Use()))
	}
}

// fastest is the shortest time of a hundred requests of one tenant, in many turns.
func fastest(t *testing.T, c *Ceiling) time.Duration {
	t.Helper()
	shortest := time.Duration(math.MaxInt64)
	for range 50 {
		began := time.Now()
		for range 100 {
			spend(t, c, "acme", 1)
		}
		shortest = min(shortest, time.Since(began))
	}
	return shortest
}

// Whatever tenants do, each request ends, and when none is left nobody stands in the queue.
func TestTheQueueHoldsWhoWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.SliceOfN(rapid.IntRange(0, 999), 1, 60).Draw(r, "requests")
		total, own := rapid.SampledFrom([]float64{0, 5, 50}).Draw(r, "total"), rapid.SampledFrom([]float64{1, 7, 30}).Draw(r, "each")
		synctest.Test(t, func(t *testing.T) {
			c := newTestCeiling(t, CeilingConfig{Total: total, PerTenant: own})
			done := make(chan struct{})
			for _, n := range seed {
				name, units, patience := fmt.Sprint("t", n%4), float64(n%23), time.Duration(n%7)*10*time.Second
				time.Sleep(time.Duration(n%5) * 100 * time.Millisecond)
				go func() {
					defer func() { done <- struct{}{} }()
					ctx, cancel := context.WithTimeout(context.Background(), patience+time.Hour*time.Duration(n%2))
					defer cancel()
					taken, err := c.admit(ctx, name)
					if err != nil {
						return
					}
					time.Sleep(50 * time.Millisecond)
					c.spent(name, taken, units, 1)
				}()
			}
			for range seed {
				<-done
			}
			if !c.queue.none() || c.unused.Len() != len(c.tenants) {
				r.Errorf("%d and %d wait, %d of %d rest", c.queue.ready.Len(), c.queue.closed.Len(), c.unused.Len(), len(c.tenants))
			}
		})
	})
}

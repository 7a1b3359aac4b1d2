package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

// CeilingConfig is repository's, in request units a second; a zero is no bound.
type CeilingConfig struct {
	Total, PerTenant float64
	Tenants          map[string]float64
}

// Ceiling bounds the request units a second that this process spends, in all
// and by tenant: a request waits for its turn before it is sent (admit), and what it cost is
// taken afterwards (spent). What a tenant may spend is in ceiling_tenant.go, who is next of those
// that wait in ceiling_queue.go, which requests a ceiling holds for in ceiling_context.go.
type Ceiling struct {
	cfg CeilingConfig

	mu      sync.Mutex
	total   bucket
	tenants map[string]*tenantShare
	queue   waitingTenants
	unused  list.List // of the tenants without a request, the one that was used last is behind the others
	floor   float64   // the share of the tenant that was served last
	timer   *time.Timer
}

// TenantUse is what a tenant spent under a [Ceiling].
type TenantUse struct {
	Requests     int64
	RequestUnits float64
	Waited       time.Duration
}

// NewCeiling checks the configuration. It fails with [ErrInvalid] when a rate
// is negative, infinite or no number, or none is set.
func NewCeiling(cfg CeilingConfig) (*Ceiling, error) {
	if err := CheckRate("Total", cfg.Total); err != nil {
		return nil, err
	}
	if err := CheckRate("PerTenant", cfg.PerTenant); err != nil {
		return nil, err
	}
	for _, tenant := range slices.Sorted(maps.Keys(cfg.Tenants)) {
		if err := CheckRate(fmt.Sprintf("Tenants[%q]", tenant), cfg.Tenants[tenant]); err != nil {
			return nil, err
		}
	}
	if cfg.Total == 0 && cfg.PerTenant == 0 && len(cfg.Tenants) == 0 {
		return nil, &tenantitem.InvalidError{What: "ceiling", Reason: "it bounds nothing", Hint: "set at least one rate, in request units a second"}
	}
	cfg.Tenants = maps.Clone(cfg.Tenants)
	return &Ceiling{cfg: cfg, total: bucket{rate: cfg.Total}, tenants: map[string]*tenantShare{}}, nil
}

// CheckRate fails with [ErrInvalid] unless a rate, in request units a second, can be kept to; 0 is no bound.
func CheckRate(name string, rate float64) error {
	if rate >= 0 && !math.IsInf(rate, 0) {
		return nil
	}
	return &tenantitem.InvalidError{What: name, Reason: fmt.Sprintf("%v is no rate", rate), Hint: "give request units a second, or 0 for no bound"}
}

// Use is what each tenant spent since the ceiling got to know it.
func (c *Ceiling) Use() map[string]TenantUse {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]TenantUse, len(c.tenants))
	for name, t := range c.tenants {
		out[name] = t.use
	}
	return out
}

// admit waits for a request's turn, and returns what was taken for it. The
// caller calls spent afterwards.
func (c *Ceiling) admit(ctx context.Context, name string) (float64, error) {
	began := time.Now()
	c.mu.Lock()
	t := c.tenant(name, began)
	if t.waiting.Len() == 0 {
		t.share = max(t.share, c.floor) // a rest is not saved up
		if c.queue.none() && c.total.open(began) == 0 && t.open(began) == 0 {
			defer c.mu.Unlock()
			return c.grant(t), nil
		}
	}
	a := &admission{granted: make(chan struct{})}
	place := t.waiting.PushBack(a)
	c.queue.put(t, began)
	c.serve(began)
	c.mu.Unlock()
	var err error
	select {
	case <-a.granted:
	case <-ctx.Done():
		err = ctx.Err()
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.use.Waited += now.Sub(began)
	if err != nil && !a.given {
		t.waiting.Remove(place)
		if t.waiting.Len() == 0 {
			c.queue.remove(t)
		}
		c.rest(t, now)
		return 0, &ceilingError{err}
	}
	return a.cost, nil
}

// grant takes for a request what those before it cost.
func (c *Ceiling) grant(t *tenantShare) (cost float64) {
	cost = t.likely
	c.floor = max(c.floor, t.share)
	t.sent++
	t.share += cost
	t.take(cost)
	c.total.take(cost)
	return cost
}

// count adds a request that was sent without being admitted.
func (c *Ceiling) count(name string, units float64, requests int64) {
	c.mu.Lock()
	c.tenant(name, time.Now()).sent++
	c.mu.Unlock()
	c.spent(name, 0, units, requests)
}

// spent corrects what was taken for a request by what it cost.
func (c *Ceiling) spent(name string, taken, units float64, requests int64) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenant(name, now)
	t.sent--
	t.use.Requests += requests
	t.use.RequestUnits += units
	if requests > 0 {
		t.likely = max((t.likely+units)/2, 1)
	}
	t.open(now) // what was waited off until now is not lent to what follows
	c.total.open(now)
	t.share += units - taken
	t.take(units - taken)
	c.total.take(units - taken)
	if t.waiting.Len() > 0 {
		c.queue.put(t, now)
	}
	c.rest(t, now)
	c.serve(now)
}

// serve grants what may be sent now, to the tenant that got the least first, and
// sets the timer for what has to wait.
func (c *Ceiling) serve(now time.Time) {
	for !c.queue.none() {
		c.queue.reopen(now)
		wait := c.total.open(now)
		next := c.queue.next()
		if next == nil || wait > 0 {
			c.wake(max(wait, c.queue.pause(now)))
			return
		}
		c.queue.remove(next)
		if next.open(now) > 0 {
			c.queue.put(next, now)
			continue
		}
		first := next.waiting.Front()
		next.waiting.Remove(first)
		a, _ := first.Value.(*admission)
		a.cost, a.given = c.grant(next), true
		close(a.granted)
		if next.waiting.Len() > 0 {
			c.queue.put(next, now)
		}
	}
}

// wake has the waiting requests looked at again after a while.
func (c *Ceiling) wake(after time.Duration) {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(after, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.serve(time.Now())
	})
}

// ceilingError is a request that was not sent because its turn did not come in
// time.
type ceilingError struct{ err error }

// Error says so.
func (e *ceilingError) Error() string {
	return "the ceiling on request units left no turn in time: " + e.err.Error()
}

// Unwrap returns the sentinel and why the waiting ended.
func (e *ceilingError) Unwrap() []error { return []error{ErrThrottled, e.err} }

func isHeldBack(err error) bool {
	var held *ceilingError
	return errors.As(err, &held)
}

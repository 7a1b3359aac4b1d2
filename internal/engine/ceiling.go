package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/internal/cosmos"

	"github.com/cosmosgrove/grove/tenantitem"
)

// CeilingConfig is repository's, in request units a second; a zero is no bound.
type CeilingConfig struct {
	Total, PerTenant float64
	Tenants          map[string]float64
}

// Ceiling bounds the request units a second that this process spends, in all
// and by tenant: requests wait for their turn before they are sent.
type Ceiling struct {
	cfg CeilingConfig

	mu      sync.Mutex
	total   bucket
	tenants map[string]*tenantShare
	floor   float64 // the share of the tenant that was served last
	timer   *time.Timer
}

// TenantUse is what a tenant spent under a [Ceiling].
type TenantUse struct {
	Requests     int64
	RequestUnits float64
	Waited       time.Duration
}

// NewCeiling checks the configuration. It fails with [ErrInvalid] when a rate
// is negative, or none is set.
func NewCeiling(cfg CeilingConfig) (*Ceiling, error) {
	some := cfg.Total > 0 || cfg.PerTenant > 0 || len(cfg.Tenants) > 0
	bad := cfg.Total < 0 || cfg.PerTenant < 0
	for _, rate := range cfg.Tenants {
		bad = bad || rate < 0
	}
	if bad || !some {
		return nil, &tenantitem.InvalidError{What: "ceiling", Reason: fmt.Sprintf("its rates are %v, %v and %d others", cfg.Total, cfg.PerTenant, len(cfg.Tenants)), Hint: "set at least one, in request units a second"}
	}
	cfg.Tenants = maps.Clone(cfg.Tenants)
	return &Ceiling{cfg: cfg, total: bucket{rate: cfg.Total}, tenants: map[string]*tenantShare{}}, nil
}

// Use is what each tenant spent since the ceiling was made.
func (c *Ceiling) Use() map[string]TenantUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]TenantUse, len(c.tenants))
	for name, t := range c.tenants {
		out[name] = t.use
	}
	return out
}

// CeilingHandle is embedded by repository's ceiling and leads to this one.
type CeilingHandle struct{ c *Ceiling }

// CeilingHandleOf returns a handle of a ceiling.
func CeilingHandleOf(c *Ceiling) CeilingHandle { return CeilingHandle{c} }

func (h CeilingHandle) ceiling() *Ceiling { return h.c }

// CeilingOf returns the ceiling behind repository's; nil for none.
func CeilingOf[H interface {
	comparable
	ceiling() *Ceiling
}](h H) *Ceiling {
	if h == *new(H) {
		return nil
	}
	return h.ceiling()
}

// bucket is a rate; what is spent beyond it is owed.
type bucket struct {
	rate  float64 // 0 is no bound
	spent float64 // what was spent and has not been waited off
	at    time.Time
}

// open is how long it takes until something may be spent.
func (b *bucket) open(now time.Time) time.Duration {
	if b.rate == 0 {
		return 0
	}
	b.spent = max(b.spent-b.rate*now.Sub(b.at).Seconds(), 0)
	b.at = now
	if b.spent < b.rate {
		return 0
	}
	return time.Duration((b.spent-b.rate)/b.rate*float64(time.Second)) + time.Millisecond
}

// tenantShare is a tenant that spent something.
type tenantShare struct {
	bucket
	use     TenantUse
	share   float64 // what it got, in units; the one with the least is next
	likely  float64 // what its last requests cost
	waiting []*admission
}

// admission is a request that waits.
type admission struct {
	granted chan struct{}
	cost    float64 // what was taken for it
	given   bool
}

func (c *Ceiling) tenant(name string) *tenantShare {
	t, ok := c.tenants[name]
	if !ok {
		rate, own := c.cfg.Tenants[name]
		if !own {
			rate = c.cfg.PerTenant
		}
		t = &tenantShare{bucket: bucket{rate: rate}, share: c.floor, likely: 1}
		c.tenants[name] = t
	}
	return t
}

// admit waits for a request's turn, and returns what was taken for it.
func (c *Ceiling) admit(ctx context.Context, name string) (float64, error) {
	began := time.Now()
	a := &admission{granted: make(chan struct{})}
	c.mu.Lock()
	t := c.tenant(name)
	if len(t.waiting) == 0 {
		t.share = max(t.share, c.floor) // a rest is not saved up
	}
	t.waiting = append(t.waiting, a)
	c.serve()
	c.mu.Unlock()
	var err error
	select {
	case <-a.granted:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.use.Waited += time.Since(began)
	if err != nil && !a.given {
		for i, other := range t.waiting {
			if other == a {
				t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
				break
			}
		}
		return 0, &ceilingError{err}
	}
	return a.cost, nil
}

// spent corrects what was taken for a request by what it cost.
func (c *Ceiling) spent(name string, taken, units float64, requests int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenant(name)
	t.use.Requests += requests
	t.use.RequestUnits += units
	if requests > 0 {
		t.likely = max((t.likely+units)/2, 1)
	}
	t.take(units - taken)
	if c.total.rate > 0 {
		c.total.spent = max(c.total.spent+units-taken, 0)
	}
	c.serve()
}

func (t *tenantShare) take(units float64) {
	t.share += units
	if t.rate > 0 {
		t.spent = max(t.spent+units, 0)
	}
}

// serve grants what may be sent now, to the tenant that got the least first, and
// sets the timer for what has to wait.
func (c *Ceiling) serve() {
	now := time.Now()
	for {
		var next *tenantShare
		wait := time.Duration(-1)
		sooner := func(d time.Duration) {
			if wait < 0 || d < wait {
				wait = d
			}
		}
		closed := c.total.open(now)
		for _, t := range c.tenants {
			if len(t.waiting) == 0 {
				continue
			}
			if own := max(t.open(now), closed); own > 0 {
				sooner(own)
			} else if next == nil || t.share < next.share {
				next = t
			}
		}
		if next == nil {
			if wait >= 0 {
				c.wake(wait)
			}
			return
		}
		a := next.waiting[0]
		next.waiting = next.waiting[1:]
		c.floor = max(c.floor, next.share)
		a.cost, a.given = next.likely, true
		next.take(a.cost)
		if c.total.rate > 0 {
			c.total.spent += a.cost
		}
		close(a.granted)
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
		c.serve()
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

type ceilingKey struct{}

// ceilings are those of a context, the inner one first.
type ceilings struct {
	*Ceiling
	outer *ceilings
}

// WithCeiling returns a context under which a ceiling holds, besides those of
// outer contexts and of the collection.
func WithCeiling(ctx context.Context, c *Ceiling) context.Context {
	if c == nil {
		return ctx
	}
	outer, _ := ctx.Value(ceilingKey{}).(*ceilings)
	return context.WithValue(ctx, ceilingKey{}, &ceilings{c, outer})
}

// ceilings are all that a request has to keep to.
func (k *Call) ceilings(ctx context.Context) []*Ceiling {
	var all []*Ceiling
	if k.Collection.ceiling != nil {
		all = append(all, k.Collection.ceiling)
	}
	held, _ := ctx.Value(ceilingKey{}).(*ceilings)
	for ; held != nil; held = held.outer {
		all = append(all, held.Ceiling)
	}
	return all
}

// underCeilings sends a request once its turn has come under all ceilings, and
// tells them what it cost.
func (k *Call) underCeilings(ctx context.Context, all []*Ceiling, x *exchange, send func(context.Context) (cosmos.Answer, error)) error {
	taken := make([]float64, len(all))
	for i, c := range all {
		if x.exempt {
			continue // it finds out what became of a write: that can't wait
		}
		var err error
		if taken[i], err = c.admit(ctx, k.At.Tenant); err != nil {
			for j := range i {
				all[j].spent(k.At.Tenant, taken[j], 0, 0)
			}
			return err
		}
	}
	ctx, tally := WithTally(ctx)
	err := k.sendOnce(ctx, x, send)
	for i, c := range all {
		c.spent(k.At.Tenant, taken[i], tally.RequestUnits(), tally.Requests())
	}
	return err
}

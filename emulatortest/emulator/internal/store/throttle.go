package store

import (
	"net/http"
	"sync"
	"time"
)

// budget is a token bucket of request units. A request is admitted while there is anything left, and its charge, known
// only afterwards, may overdraw it; that is how the service's own limit feels to a client.
type budget struct {
	mu    sync.Mutex
	rate  float64 // units a second; also what the bucket holds
	left  float64
	since time.Time
}

// refill needs mu.
func (b *budget) refill(rate float64, now time.Time) {
	if b.since.IsZero() || rate != b.rate {
		b.rate, b.left, b.since = rate, rate, now
		return
	}
	if elapsed := now.Sub(b.since).Seconds(); elapsed > 0 {
		b.left = min(b.rate, b.left+elapsed*b.rate)
		b.since = now
	}
}

func (b *budget) admit(rate float64, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(rate, now)
	if b.left > 0 {
		return nil
	}
	e := refuse(http.StatusTooManyRequests, SubstatusThroughputExceeded, textRateLimited)
	e.RetryAfter = max(time.Duration(-b.left/b.rate*float64(time.Second)).Round(time.Millisecond), time.Millisecond)
	return e
}

func (b *budget) spend(rate, units float64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(rate, now)
	b.left -= units
}

// LimitThroughput holds callers of [Container.Admit] to a rate whatever the offers say; zero takes the limit away.
func (c *Container) LimitThroughput(unitsPerSecond float64) {
	if unitsPerSecond <= 0 {
		c.forced.Store(nil)
		return
	}
	c.forced.Store(&forcedLimit{rate: unitsPerSecond, budget: &budget{}})
}

type forcedLimit struct {
	rate   float64
	budget *budget
}

// limit finds the budget that the container draws on; nil when nothing limits it. Containers without an offer of their
// own share their database's.
func (c *Container) limit() (*budget, float64) {
	if forced := c.forced.Load(); forced != nil {
		return forced.budget, forced.rate
	}
	if !c.account.opts.EnforceThroughput {
		return nil, 0
	}
	return c.account.budgetOf(c.rid, c.database.resource.RID)
}

// budgetOf finds the budget of the first of the resources that has an offer.
func (a *Account) budgetOf(rids ...string) (*budget, float64) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, rid := range rids {
		for _, o := range a.offers {
			if o.target == rid {
				return o.budget, o.throughput.unitsPerSecond()
			}
		}
	}
	return nil, 0
}

// Admit refuses a request (429/3200 with RetryAfter) while more request units are spent than the limit gives. Without a
// limit it admits everything.
func (c *Container) Admit() error {
	b, rate := c.limit()
	if b == nil {
		return nil
	}
	return b.admit(rate, c.account.now())
}

// Spend books the charge, in request units, of a request that was admitted.
func (c *Container) Spend(requestUnits float64) {
	if b, rate := c.limit(); b != nil {
		b.spend(rate, requestUnits, c.account.now())
	}
}

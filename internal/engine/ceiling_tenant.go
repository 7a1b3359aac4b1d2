package engine

import (
	"container/list"
	"time"
)

const (
	// ceilingMemory is how long a tenant is remembered that has no request, unless it still owes something.
	ceilingMemory = 10 * time.Minute
	// ceilingTenants is how many of those are remembered at most.
	ceilingTenants = 10_000
	// ceilingPause is after how long a request that waits is looked at again at the latest.
	ceilingPause = time.Minute
)

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
	seconds := min((b.spent-b.rate)/b.rate, ceilingPause.Seconds()) // of a small rate more than a Duration holds
	return time.Duration(seconds*float64(time.Second)) + time.Millisecond
}

// owes reports whether something is left that was spent and has not been waited off.
func (b *bucket) owes(now time.Time) bool {
	b.open(now)
	return b.spent > 0
}

// take spends units; less than nothing is given back.
func (b *bucket) take(units float64) {
	if b.rate > 0 {
		b.spent = max(b.spent+units, 0)
	}
}

// tenantShare is a tenant that the ceiling knows.
type tenantShare struct {
	bucket
	name    string
	use     TenantUse
	share   float64   // what it got, in units; the one with the least is next
	likely  float64   // what its last requests cost
	waiting list.List // of *admission, first come first
	sent    int       // requests that were granted and have not been answered

	turn   int       // its place in one of the heaps; -1 is none
	closed bool      // whether that is the heap of those whose own rate is used up
	due    time.Time // when its own rate lets it send again

	unused *list.Element // its place in the list of tenants without a request
	last   time.Time     // when it got there
}

// admission is a request that waits.
type admission struct {
	granted chan struct{}
	cost    float64 // what was taken for it
	given   bool
}

// tenant finds or makes what is known of a tenant that has a request now.
func (c *Ceiling) tenant(name string, now time.Time) *tenantShare {
	t, ok := c.tenants[name]
	if !ok {
		rate, own := c.cfg.Tenants[name]
		if !own {
			rate = c.cfg.PerTenant
		}
		t = &tenantShare{name: name, bucket: bucket{rate: rate}, share: c.floor, likely: 1, turn: -1}
		c.tenants[name] = t
	}
	if t.unused != nil {
		c.unused.Remove(t.unused)
		t.unused = nil
	}
	c.forget(now)
	return t
}

// rest notes that a tenant has no request, so that it may be forgotten.
func (c *Ceiling) rest(t *tenantShare, now time.Time) {
	if t.waiting.Len() == 0 && t.sent == 0 && t.unused == nil {
		t.unused, t.last = c.unused.PushBack(t), now
	}
}

// forget drops tenants that had no request for long, or are too many. It looks at
// two for each request, so that they become fewer and no request pays for all.
func (c *Ceiling) forget(now time.Time) {
	for range 2 {
		front := c.unused.Front()
		if front == nil {
			return
		}
		t, _ := front.Value.(*tenantShare)
		if now.Sub(t.last) < ceilingMemory && c.unused.Len() <= ceilingTenants {
			return
		}
		if t.owes(now) {
			t.last = now // forgotten, it could spend again at once
			c.unused.MoveToBack(front)
			continue
		}
		c.unused.Remove(front)
		delete(c.tenants, t.name)
	}
}

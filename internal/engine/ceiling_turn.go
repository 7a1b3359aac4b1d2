package engine

import (
	"container/list"
	"context"
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

package emulator

import (
	"context"
	"sync"
	"time"
)

// Clock is the emulator's time: _ts, TTL, the times of the change feed, the dates of answers, throttling and the delays of
// faults go by it. It follows the wall clock (inside testing/synctest the bubble's clock) and can be turned forward. Its
// methods may be called at the same time.
type Clock struct {
	mu      sync.Mutex
	frozen  bool
	at      time.Time     // the time while frozen
	ahead   time.Duration // what was added to the wall clock while not frozen
	shown   time.Time     // the latest time that Now gave, without its monotonic reading
	changed chan struct{} // closed and replaced whenever the clock is turned
}

// NewClock gives a clock that follows the wall clock.
func NewClock() *Clock { return &Clock{changed: make(chan struct{})} }

// NewClockAt gives a clock that stands at that time and moves only by [Clock.Advance].
func NewClockAt(t time.Time) *Clock { return &Clock{frozen: true, at: t, changed: make(chan struct{})} }

// Now is the emulator's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if wall := now.Round(0); wall.After(c.shown) {
		c.shown = wall
	}
	return now
}

func (c *Clock) now() time.Time {
	if c.frozen {
		return c.at
	}
	return time.Now().Add(c.ahead)
}

// Fork gives a clock that begins at this one's time and is turned by itself: it follows the wall clock if this one does. When
// the wall clock went back since this one was last asked, as from one testing/synctest bubble to the next, the fork begins at
// the latest time that this one gave.
func (c *Clock) Fork() *Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &Clock{frozen: c.frozen, at: c.at, ahead: c.ahead, shown: c.shown, changed: make(chan struct{})}
	if behind := c.shown.Sub(c.now().Round(0)); !c.frozen && behind > 0 {
		f.ahead += behind
	}
	return f
}

// Advance turns the clock forward. Time never goes back: a negative duration is taken as zero.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= 0 {
		return
	}
	if c.frozen {
		c.at = c.at.Add(d)
	} else {
		c.ahead += d
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// Wait returns when d has passed on this clock, or with the context's error when that ends first.
func (c *Clock) Wait(ctx context.Context, d time.Duration) error {
	until := c.Now().Add(d)
	for {
		c.mu.Lock()
		left, frozen, changed := until.Sub(c.now()), c.frozen, c.changed
		c.mu.Unlock()
		if left <= 0 {
			return nil
		}
		if err := waitFor(ctx, left, frozen, changed); err != nil {
			return err
		}
	}
}

// waitFor returns after the time left, which never passes on a frozen clock, or earlier when the clock was turned.
func waitFor(ctx context.Context, left time.Duration, frozen bool, changed <-chan struct{}) error {
	var rung <-chan time.Time
	if !frozen {
		timer := time.NewTimer(left)
		defer timer.Stop()
		rung = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-rung:
	}
	return nil
}

package changefeed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrStopped is returned by CatchUp after Stop.
var ErrStopped = errors.New("changefeed: the processor was stopped")

// CatchUp returns when every change made before the call, and every change
// that handlers made meanwhile, was handled or quarantined. It hurries the
// ranges that run here and waits for those of other instances. A processor
// that does not run runs for as long as that takes.
func (p *Processor) CatchUp(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	select {
	case <-p.stopping:
		return ErrStopped
	default:
	}
	if p.runMu.TryLock() {
		running, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.run(running) // it was opened above, which is all that can fail
		}()
		defer p.runMu.Unlock()
		defer func() { cancel(); <-ended }()
	}
	for {
		quiet, err := p.round(ctx)
		if err != nil {
			return err
		}
		if quiet {
			return nil
		}
	}
}

// round waits until each range has answered "nothing new" to a read that began
// after the round did, and reports whether no range had any change meanwhile:
// a change handled in one range may have caused one in another.
func (p *Processor) round(ctx context.Context) (quiet bool, err error) {
	generation := p.generation.Add(1)
	before := p.handledPages()
	p.rebalance()
	// Others' progress makes no signal here, so they are asked from time to time.
	tick := time.NewTicker(max(p.cfg.PollInterval, 10*time.Millisecond))
	defer tick.Stop()
	for {
		drained, err := p.drained(ctx, generation)
		if err != nil || drained {
			return p.handledPages() == before, err
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("changefeed: catching up: %w", context.Cause(ctx))
		case <-p.changed:
		case <-tick.C:
			p.rebalance()
		}
	}
}

func (p *Processor) handledPages() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handled
}

// drained reports whether every lease is: those that run here by what their
// workers read since the generation began, the others by their lag.
func (p *Processor) drained(ctx context.Context, generation uint64) (bool, error) {
	leases, err := p.leases(ctx)
	if err != nil {
		return false, err
	}
	if len(replaced(leases)) > 0 {
		return false, nil
	}
	for _, l := range leases {
		p.mu.Lock()
		w := p.workers[l.ID]
		done := w != nil && w.drained >= generation
		p.mu.Unlock()
		switch {
		case done:
		case w != nil:
			signal(w.nudge)
			return false, nil
		case l.owner() == "" || l.owner() == p.cfg.Instance:
			return false, nil // about to be taken
		default:
			var behind int64
			err := p.persist(ctx, func() (err error) {
				behind, err = p.behind(ctx, l)
				return err
			})
			if err != nil {
				return false, fmt.Errorf("changefeed: reading the lag of a range: %w", err)
			}
			if behind > 0 {
				return false, nil
			}
		}
	}
	return true, nil
}

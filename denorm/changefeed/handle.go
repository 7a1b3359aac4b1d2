package changefeed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

const longestBackoff = time.Minute

// handle brings changes through the handler. It returns an error only when the
// context ended or a change could not be put into quarantine: then none of
// them may be checkpointed.
func (p *Processor) handle(ctx context.Context, keys keyRange, changes []Change) error {
	if err := p.call(ctx, changes); err == nil {
		p.metrics.handled.Add(ctx, int64(len(changes)))
		return nil
	}
	// One of them does not go through. One by one, the others do.
	for i := range changes {
		if err := p.insist(ctx, keys, changes[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// insist calls the handler with one change until it succeeds, the attempts are
// used up and the change is quarantined, or the context ends.
func (p *Processor) insist(ctx context.Context, keys keyRange, one []Change) error {
	for attempt := 1; ; attempt++ {
		if err := p.pause(ctx, backoff(p.cfg.Backoff, attempt-1)); err != nil {
			return err
		}
		err := p.call(ctx, one)
		switch {
		case err == nil:
			p.metrics.handled.Add(ctx, 1)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case attempt >= p.cfg.MaxAttempts:
			return p.quarantine(ctx, keys, one[0], attempt, err)
		}
	}
}

// call runs the handler once. A panic is a failure like any other: let through,
// one document that the handler was not made for would take down instance
// after instance, and quarantine would never see it.
func (p *Processor) call(ctx context.Context, changes []Change) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the handler panicked with a %T", v)
			switch v := v.(type) {
			case error:
				err = fmt.Errorf("the handler panicked: %w", v)
			case string:
				err = fmt.Errorf("the handler panicked: %s", v)
			}
			p.cfg.Logger.ErrorContext(ctx, "change feed handler panicked", "processor", p.cfg.Name, "changes", len(changes), "error", err, "stack", string(debug.Stack()))
		}
		if err != nil && ctx.Err() == nil {
			p.metrics.failed.Add(ctx, 1)
			p.cfg.Logger.WarnContext(ctx, "change feed handler failed", "processor", p.cfg.Name, "changes", len(changes), "error", err)
		}
	}()
	return p.handler(ctx, changes)
}

// pause waits before another try. A processor that stops does not wait.
func (p *Processor) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.stopping:
		return errStopped
	case <-timer.C:
		return nil
	}
}

// backoff doubles from first, with jitter between half of it and all.
func backoff(first time.Duration, doublings int) time.Duration {
	d := min(first<<min(doublings, 20), longestBackoff)
	return d/2 + rand.N(d/2+1)
}

// wait reports false when the context ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

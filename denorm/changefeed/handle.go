package changefeed

import (
	"context"
	"math/rand/v2"
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
		if !wait(ctx, backoff(p.cfg.Backoff, attempt-1)) {
			return ctx.Err()
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

// call runs the handler once. A panic ends the process, as it would anywhere:
// swallowing it would hide a broken handler behind a quarantine.
func (p *Processor) call(ctx context.Context, changes []Change) error {
	err := p.handler(ctx, changes)
	if err != nil && ctx.Err() == nil {
		p.metrics.failed.Add(ctx, 1)
		p.cfg.Logger.WarnContext(ctx, "change feed handler failed", "processor", p.cfg.Name, "changes", len(changes), "error", err)
	}
	return err
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

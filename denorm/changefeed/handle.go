package changefeed

import (
	"context"
	"fmt"
	"runtime/debug"
)

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
		if err := p.handleAlone(ctx, keys, changes[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// handleAlone calls the handler with one change until it succeeds, the attempts are
// used up and the change is quarantined, or the context ends.
func (p *Processor) handleAlone(ctx context.Context, keys keyRange, one []Change) error {
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

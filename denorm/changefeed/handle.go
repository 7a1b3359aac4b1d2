package changefeed

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/cosmosgrove/grove/internal/redact"
)

// handle brings changes through the handler. It returns an error only when the
// context ended, the range has to be given up, or a change could not be put
// into quarantine: then none of them may be checkpointed.
func (w *worker) handle(ctx context.Context, changes []Change) error {
	refusal, err := w.deliver(ctx, changes)
	if err != nil || refusal == nil {
		return err
	}
	// One of them does not go through. One by one, the others do.
	for i := range changes {
		if err := w.handleAlone(ctx, changes[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// deliver calls the handler until it accepts the changes, or refuses them for
// a reason that lies in them. What passes is waited out.
func (w *worker) deliver(ctx context.Context, changes []Change) (refusal, err error) {
	for try := 0; ; try++ {
		err := w.call(ctx, changes)
		switch {
		case err == nil:
			w.goesOn(ctx)
			w.p.metrics.handled.Add(ctx, int64(len(changes)))
			return nil, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !passes(err):
			w.goesOn(ctx)
			w.p.cfg.Logger.WarnContext(ctx, "change feed handler failed", "processor", w.p.cfg.Name, "changes", len(changes), "error", redact.Error(err))
			return err, nil
		case w.wanted.Load():
			return nil, errHandover
		}
		w.stalled(ctx, err)
		if err := w.p.pause(ctx, backoff(w.p.cfg.Backoff, try)); err != nil {
			return nil, err
		}
	}
}

// call runs the handler once, and nothing else of the range meanwhile.
func (w *worker) call(ctx context.Context, changes []Change) error {
	select {
	case w.handling <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.handling }()
	return w.p.call(ctx, changes)
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
			p.cfg.Logger.ErrorContext(ctx, "change feed handler panicked", "processor", p.cfg.Name, "changes", len(changes), "error", redact.Error(err), "stack", string(debug.Stack()))
		}
		if err != nil && ctx.Err() == nil {
			p.metrics.failed.Add(ctx, 1)
		}
	}()
	return p.handler(ctx, changes)
}

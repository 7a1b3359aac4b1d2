package changefeed

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// worker processes one lease that this instance owns.
type worker struct {
	p     *Processor
	keys  keyRange
	nudge chan struct{} // asks for a read now

	mu    sync.Mutex
	lease *lease // as last stored by this instance

	resting atomic.Bool // nothing is under way

	// state is guarded by p.mu.
	drained uint64 // the newest generation that began before an empty read
	lag     int64
}

// errStopped ends a worker whose processor stops: its batch is done.
var errStopped = errors.New("the processor stops")

// errHandover ends a worker whose range another instance asked for.
var errHandover = errors.New("the range was asked for by another instance")

func (w *worker) run(ctx context.Context) {
	renewing := make(chan struct{})
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		defer close(renewing)
		w.renew(ctx, cancel)
	}()
	err := w.process(ctx)
	cancel(err)
	<-renewing
	w.leave(context.WithoutCancel(ctx), err)
}

// process reads, handles and checkpoints until the context ends or the lease
// is lost. A nil error means that the range was split and its lease is gone.
func (w *worker) process(ctx context.Context) error {
	at := position{w.keys, w.lease.continuation()}
	start := w.lease.startTime()
	failures := 0
	for {
		select {
		case <-w.p.stopping:
			return errStopped
		default:
		}
		generation := w.p.generation.Load()
		pg, err := w.p.reader.read(ctx, at, start, w.p.reader.maxItems)
		if err == nil {
			err = w.take(ctx, pg, at)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errLost), errors.Is(err, errHandover):
			return err
		case err != nil:
			failures++
			w.p.cfg.Logger.WarnContext(ctx, "change feed range stands still", "processor", w.p.cfg.Name, "range", w.keys.String(), "failures", failures, "error", err)
			wait(ctx, backoff(w.p.cfg.Backoff, failures))
			continue
		case len(pg.next) > 1 || pg.next[0].keys != w.keys:
			return nil
		}
		failures = 0
		at = pg.next[0]
		if len(pg.changes) > 0 {
			w.p.progress(w, pg, false, generation)
			continue
		}
		w.p.progress(w, pg, true, generation)
		w.idle(ctx)
	}
}

// take handles a page and stores where to go on.
func (w *worker) take(ctx context.Context, pg page, at position) error {
	if len(pg.changes) > 0 {
		if err := w.p.handle(ctx, w.keys, pg.changes); err != nil {
			return err
		}
	}
	if len(pg.next) > 1 || pg.next[0].keys != w.keys {
		return w.split(ctx, pg.next)
	}
	// A read that brought nothing moves the position too, but only the first
	// is worth a write: until then the range would start over.
	if len(pg.changes) == 0 && at.continuation != "" {
		return nil
	}
	next := pg.next[0].continuation
	return w.store(ctx, func(l *lease) { l.ContinuationToken = &next })
}

// store changes the lease. One document serves checkpoints and renewals, so
// they take turns here.
func (w *worker) store(ctx context.Context, change func(*lease)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	updated, err := w.p.store.update(ctx, w.lease, change)
	if err != nil {
		return err
	}
	w.lease = updated
	if updated.Properties[propertyHandover] != "" {
		return errHandover
	}
	return nil
}

// split puts the children's leases in the place of this one. If it stops
// half-way, the parent is still there or its children cover it, and whoever
// looks next finishes.
func (w *worker) split(ctx context.Context, children []position) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	properties := maps.Clone(w.lease.Properties)
	for i, child := range children {
		owner := w.p.cfg.Instance
		if i > 0 {
			owner = "" // free for whoever has room
		}
		if err := w.p.store.create(ctx, child, owner, properties); err != nil {
			return err
		}
	}
	w.p.cfg.Logger.InfoContext(ctx, "change feed range split", "processor", w.p.cfg.Name, "range", w.keys.String(), "into", len(children))
	if err := w.p.store.remove(ctx, w.lease); err != nil {
		return err
	}
	w.p.rebalance()
	return nil
}

func (w *worker) idle(ctx context.Context) {
	timer := time.NewTimer(w.p.cfg.PollInterval)
	defer timer.Stop()
	w.resting.Store(true)
	defer w.resting.Store(false)
	select {
	case <-ctx.Done():
	case <-w.p.stopping:
	case <-timer.C:
	case <-w.nudge:
	}
}

// renew keeps the lease alive while the worker works, and ends the worker when
// the lease is lost or could not be renewed for as long as it is respected.
func (w *worker) renew(ctx context.Context, end context.CancelCauseFunc) {
	interval := w.p.cfg.LeaseDuration / 3
	renewed := time.Now()
	for wait(ctx, interval) {
		err := w.store(ctx, func(*lease) {})
		switch {
		case err == nil:
			renewed = time.Now()
		case errors.Is(err, errHandover):
			// A worker with a batch leaves after it, at its checkpoint.
			renewed = time.Now()
			if w.resting.Load() {
				end(err)
			}
		case errors.Is(err, errLost):
			end(err)
			return
		case time.Since(renewed) > w.p.cfg.LeaseDuration:
			end(errLost)
			return
		}
	}
}

// leave hands the range back, or over, unless it is not this instance's any more.
func (w *worker) leave(ctx context.Context, why error) {
	if why == nil || errors.Is(why, errLost) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.p.cfg.LeaseDuration/3)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.p.store.update(ctx, w.lease, func(l *lease) {
		l.setOwner(l.Properties[propertyHandover])
		delete(l.Properties, propertyHandover)
	})
	if err != nil && !errors.Is(err, errLost) {
		w.p.cfg.Logger.WarnContext(ctx, "lease not handed back; it expires", "processor", w.p.cfg.Name, "range", w.keys.String(), "error", err)
	}
}

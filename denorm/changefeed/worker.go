package changefeed

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"github.com/cosmosgrove/grove/internal/redact"
)

// worker processes one lease that this instance owns, for one epoch. How it got it is in
// balance.go; when its position is stored, in checkpoint.go.
type worker struct {
	p     *Processor
	id    string // the lease's
	keys  keyRange
	epoch int64
	wake  chan struct{} // asks for a read now

	// storing is held by the goroutine that stores the lease: one document
	// serves checkpoints and renewals. It is a channel, because it is held
	// while a request is under way.
	storing chan struct{}
	lease   *lease // as last stored by this instance; to be used while storing is held

	renewed atomic.Pointer[time.Time] // when the last store that succeeded was sent

	until atomic.Int64 // every change was handled that the service made before that time, in Unix seconds; 0 is unknown

	wanted atomic.Bool // another instance asked for the range

	overlap atomic.Pointer[overlap] // what the balancer found within the range, not yet looked at

	handling chan struct{} // held while the handler is at work

	// guarded by p.mu
	lag          int64
	stalledSince time.Time // zero when the range goes on
	stallTold    bool
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
	w.release(context.WithoutCancel(ctx), err)
}

// process reads, handles and checkpoints until the context ends or the lease
// is lost. A nil error means that the range was split, or gave way, and its lease is gone.
func (w *worker) process(ctx context.Context) error {
	at := position{w.keys, w.lease.continuation()}
	start := w.lease.startTime()
	if !isHeaderText(at.continuation) {
		w.p.cfg.Logger.ErrorContext(ctx, "a lease holds a continuation that is none of the service's; its range stands still until the lease is mended, or deleted and taken up again",
			"processor", w.p.cfg.Name, "lease", w.id)
	}
	failures := 0
	changed := time.Now() // when the range last had something new
	reading, end := w.p.untilStopped(ctx)
	defer end()
	for {
		select {
		case <-w.p.stopping:
			return errStopped
		default:
		}
		if w.wanted.Load() {
			return errHandover
		}
		if o := w.overlap.Swap(nil); o != nil {
			// What fails is tried again when the balancer has looked again.
			if gaveWay, err := w.endOverlap(reading, o); errors.Is(err, errLost) || gaveWay && err == nil {
				return err
			}
		}
		generation := w.p.generation.Load()
		pg, err := w.p.reader.read(reading, at, start, w.p.reader.maxItems)
		if err == nil {
			err = w.handlePage(ctx, pg, at)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && reading.Err() != nil:
			return errStopped
		case errors.Is(err, errLost), errors.Is(err, errHandover), errors.Is(err, errStopped):
			return err
		case err != nil:
			failures++
			w.stalled(ctx, err)
			w.pause(ctx, backoff(w.p.cfg.Backoff, failures))
			continue
		case pg.isSplit():
			return nil
		}
		w.goesOn(ctx)
		failures = 0
		at = pg.next[0]
		w.reached(pg)
		w.p.progress(w, pg, generation)
		if !pg.empty {
			changed = time.Now()
			continue
		}
		w.pause(ctx, idlePause(time.Since(changed), w.p.cfg.PollInterval, w.p.cfg.MaxPollInterval))
	}
}

// newWorker is for a lease that this instance has just taken.
func newWorker(p *Processor, l *lease) *worker {
	w := &worker{p: p, id: l.ID, keys: l.FeedRange.Range, epoch: l.epoch(), lease: l, wake: make(chan struct{}, 1), storing: make(chan struct{}, 1), handling: make(chan struct{}, 1)}
	now := time.Now()
	w.renewed.Store(&now)
	return w
}

// stale reports whether another instance may have taken the lease by now.
func (w *worker) stale() bool {
	return time.Since(*w.renewed.Load()) >= w.p.cfg.LeaseDuration
}

// confirmLease asks whose the lease is when it was not renewed in time. A process
// that was suspended between a read and its handling finds out here, in most
// cases, that it came too late.
func (w *worker) confirmLease(ctx context.Context) error {
	if !w.stale() {
		return nil
	}
	err := w.store(ctx, func(*lease) {})
	if errors.Is(err, errHandover) {
		w.handOver()
		return nil // after this batch
	}
	return err
}

// split puts the children's leases in the place of this one. If it stops
// half-way, the parent is still there or its children cover it, and the
// instance that looks next finishes.
func (w *worker) split(ctx context.Context, children []position) error {
	// Leases are made on no condition, so the one that allows it is asked first.
	if err := w.store(ctx, func(*lease) {}); err != nil && !errors.Is(err, errHandover) {
		return err
	}
	w.storing <- struct{}{}
	defer func() { <-w.storing }()
	properties := maps.Clone(w.lease.Properties)
	for i, child := range children {
		owner := w.p.cfg.Instance
		if i > 0 {
			owner = "" // free for an instance that has room
		}
		if err := w.p.store.create(ctx, child, owner, properties); err != nil {
			return err
		}
	}
	w.p.cfg.Logger.InfoContext(ctx, "change feed range split", "processor", w.p.cfg.Name, "range", w.keys.String(), "into", len(children))
	if err := w.p.store.relinquish(ctx, w.lease); err != nil {
		return err
	}
	w.p.rebalance()
	return nil
}

// pause waits until there may be something to do.
func (w *worker) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.p.stopping:
	case <-timer.C:
	case <-w.wake:
	}
}

// handOver makes the worker leave the range when nothing is under way.
func (w *worker) handOver() {
	w.wanted.Store(true)
	signal(w.wake)
}

// renew keeps the lease alive while the worker works, and ends the worker when
// the lease is lost or could not be renewed for as long as it is respected. To
// store a position renews the lease too: other instances only look whether it
// changes, so that the next renewal is due a third of the duration after that.
func (w *worker) renew(ctx context.Context, end context.CancelCauseFunc) {
	tried := *w.renewed.Load()
	due := func() time.Duration {
		if renewed := *w.renewed.Load(); renewed.After(tried) {
			tried = renewed
		}
		return time.Until(tried.Add(w.p.cfg.LeaseDuration / 3))
	}
	for {
		if d := due(); d > 0 {
			if !wait(ctx, d) {
				return
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		w.storing <- struct{}{}
		if due() > 0 { // a position was being stored
			<-w.storing
			continue
		}
		tried = time.Now()
		err := w.storeNow(ctx, func(*lease) {})
		<-w.storing
		switch {
		case err == nil:
		case errors.Is(err, errHandover):
			w.handOver()
		case errors.Is(err, errLost), w.stale():
			end(errLost)
			return
		}
	}
}

// releaseTimeout bounds what handing a lease back may add to a stop.
const releaseTimeout = 2 * time.Second

// release hands the range back, or over, unless it is not this instance's any more.
func (w *worker) release(ctx context.Context, why error) {
	if why == nil || errors.Is(why, errLost) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(w.p.cfg.LeaseDuration/3, releaseTimeout))
	defer cancel()
	w.storing <- struct{}{}
	defer func() { <-w.storing }()
	_, err := w.p.store.update(ctx, w.lease, func(l *lease) {
		l.setOwner(l.Properties[propertyHandover])
		delete(l.Properties, propertyHandover)
	})
	if err != nil && !errors.Is(err, errLost) {
		w.p.cfg.Logger.WarnContext(ctx, "lease not handed back; it expires", "processor", w.p.cfg.Name, "range", w.keys.String(), "error", redact.Error(err))
	}
}

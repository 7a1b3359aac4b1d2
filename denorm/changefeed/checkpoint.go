package changefeed

import (
	"context"
	"time"
)

// handlePage handles a page and stores where to go on, as the continuation token
// of the lease. That is done when the handler has accepted every change of the
// page, or what it kept refusing is in quarantine, and never before: a worker that
// dies in between leaves the page to the next one, so that a change comes at least
// once.
func (w *worker) handlePage(ctx context.Context, pg page, at position) error {
	if len(pg.changes) > 0 {
		if err := w.confirmLease(ctx); err != nil {
			return err
		}
		for i := range pg.changes {
			pg.changes[i].Range, pg.changes[i].Epoch = w.keys.String(), w.epoch
		}
		if err := w.handle(ctx, pg.changes); err != nil {
			return err
		}
	}
	if pg.isSplit() {
		return w.p.persist(ctx, func() error { return w.split(ctx, pg.next) })
	}
	// A read that brought nothing moves the position too, but only the first
	// is worth a write: until then the range would start over.
	if len(pg.changes) == 0 && at.continuation != "" {
		return nil
	}
	next := pg.next[0].continuation
	// The handler is done: it should not have to work again because the
	// service was busy for a moment.
	return w.p.persist(ctx, func() error {
		return w.store(ctx, func(l *lease) { l.ContinuationToken = &next })
	})
}

// reached notes up to which time the range was handled.
func (w *worker) reached(pg page) {
	switch {
	case len(pg.changes) > 0:
		w.until.Store(pg.changes[len(pg.changes)-1].Timestamp)
	case pg.empty && !pg.at.IsZero():
		w.until.Store(pg.at.Unix())
	}
}

// store changes the lease.
func (w *worker) store(ctx context.Context, change func(*lease)) error {
	w.storing <- struct{}{}
	defer func() { <-w.storing }()
	return w.storeNow(ctx, change)
}

// storeNow is store while storing is held.
func (w *worker) storeNow(ctx context.Context, change func(*lease)) error {
	// No answer within the time that the lease is respected is no better than
	// a lost lease, and must not keep the next renewal waiting.
	ctx, cancel := context.WithTimeout(ctx, w.p.cfg.LeaseDuration)
	defer cancel()
	sent := time.Now()
	updated, err := w.p.store.update(ctx, w.lease, func(l *lease) {
		if until := w.until.Load(); until > 0 {
			l.Properties[propertyUntil] = time.Unix(until, 0).UTC().Format(time.RFC3339)
		}
		delete(l.Properties, propertyStalled)
		if since := w.stallStart(); !since.IsZero() {
			l.Properties[propertyStalled] = since.UTC().Format(time.RFC3339)
		}
		change(l)
	})
	if err != nil {
		return err
	}
	w.lease = updated
	w.renewed.Store(&sent)
	if updated.Properties[propertyHandover] != "" {
		return errHandover
	}
	return nil
}

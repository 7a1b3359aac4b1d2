package changefeed

import (
	"context"
	"errors"
	"slices"
)

// A split that is killed half-way leaves leases within that of the parent, which
// its next owner splits again. If partitions were merged meanwhile it does so at
// other keys, and the leases that were left then lie within one that is at work.
// No instance takes them, and no worker knows of them, until the balancer tells
// the worker of the outer one.

// overlap is what lies within the lease of a worker.
type overlap struct {
	inner []*lease
	idle  []*lease // those that no living instance has
}

// tellOverlaps tells the workers of this instance which leases lie within theirs.
func (p *Processor) tellOverlaps(leases []*lease, expired map[string]bool) {
	for _, outer := range leases {
		w := p.worker(outer.ID)
		if w == nil {
			continue
		}
		var o overlap
		for _, l := range leases {
			if !w.keys.covers(l.FeedRange.Range) {
				continue
			}
			o.inner = append(o.inner, l)
			if owner := l.owner(); owner == "" || expired[l.ID] || owner == p.cfg.Instance && !p.running(l.ID) {
				o.idle = append(o.idle, l)
			}
		}
		if len(o.inner) > 0 {
			w.overlap.Store(&o)
			signal(w.wake)
		}
	}
}

// endOverlap is called by the worker of the outer lease between two reads, so that what lies
// within it is not of a split that it is making itself. Where that stands for all of its keys, the
// outer lease gives way, and whoever takes the others handles again what came since they were left.
// Else it goes on, and they are removed.
func (w *worker) endOverlap(ctx context.Context, o *overlap) (gaveWay bool, err error) {
	// Only the owner may, and it may have been suspended.
	if err := w.store(ctx, func(*lease) {}); err != nil && !errors.Is(err, errHandover) {
		return false, err
	}
	var there []*lease
	for _, l := range o.inner { // the listing may be of a replica that is behind
		now, err := w.p.store.read(ctx, l.ID)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		there = append(there, now)
	}
	if len(uncovered(w.keys, rangesOf(there))) == 0 {
		return true, w.giveWay(ctx, there)
	}
	for _, l := range there {
		if !slices.ContainsFunc(o.idle, func(idle *lease) bool { return idle.ID == l.ID && idle.ETag == l.ETag }) {
			continue
		}
		w.p.cfg.Logger.InfoContext(ctx, "a lease within another one is removed, which a split had left", "processor", w.p.cfg.Name, "range", l.FeedRange.Range.String(), "within", w.keys.String())
		if err := w.p.store.remove(ctx, l); err != nil && !wasTaken(err) {
			return false, err
		}
	}
	return false, nil
}

// giveWay removes the worker's lease in favour of those that stand for its keys. Their next owners begin later epochs.
func (w *worker) giveWay(ctx context.Context, inner []*lease) error {
	for _, l := range inner {
		l.raiseEpoch(w.epoch)
		if err := w.p.store.raiseEpoch(ctx, l); err != nil {
			return err
		}
	}
	w.storing <- struct{}{}
	defer func() { <-w.storing }()
	w.p.cfg.Logger.InfoContext(ctx, "a lease gives way to those that a split had left within it", "processor", w.p.cfg.Name, "range", w.keys.String(), "to", len(inner))
	if err := w.p.store.relinquish(ctx, w.lease); err != nil {
		return err
	}
	w.p.rebalance()
	return nil
}

package changefeed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/internal/redact"
)

// RangeLag is how far one range is behind.
type RangeLag struct {
	// Range is the lease's range of effective partition keys, "min-max".
	Range string
	// Owner is the instance that processes it; empty for none.
	Owner string
	// Changes estimates how many writes of the physical partition have not
	// been handled: the distance of positions, which counts a batch as one and
	// writes that followed each other in one document apart. 0 is exact.
	Changes int64
	// StalledSince is when the range began to stand still, because something
	// that should pass does not: an outage of the database or of what the
	// handler needs. It is zero when the range goes on. Of other instances'
	// ranges it is what they noted at their last renewal.
	StalledSince time.Time
}

// Lag asks every range for its next change and compares positions, also for
// ranges of other instances. It costs one small read for each range.
func (p *Processor) Lag(ctx context.Context) ([]RangeLag, error) {
	if err := p.open(ctx); err != nil {
		return nil, redact.Error(err)
	}
	leases, err := p.leases(ctx)
	if err != nil {
		return nil, fmt.Errorf("changefeed: %w", redact.Error(err))
	}
	out := make([]RangeLag, 0, len(leases))
	for _, l := range leases {
		var n int64
		err := p.persist(ctx, func() (err error) {
			n, err = p.behind(ctx, l)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("changefeed: reading the lag of a range: %w", redact.Error(err))
		}
		stalled := l.stalledSince()
		if w := p.worker(l.ID); w != nil {
			stalled = w.stallStart()
		}
		out = append(out, RangeLag{Range: l.FeedRange.Range.String(), Owner: l.owner(), Changes: n, StalledSince: stalled})
	}
	slices.SortFunc(out, func(a, b RangeLag) int { return strings.Compare(a.Range, b.Range) })
	return out, nil
}

// behind estimates one lease's lag.
func (p *Processor) behind(ctx context.Context, l *lease) (int64, error) {
	queue := []position{{l.FeedRange.Range, l.continuation()}}
	var total int64
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		pg, err := p.reader.read(ctx, at, l.startTime(), 1)
		if err != nil {
			return 0, err
		}
		if len(pg.next) > 1 {
			// It was split and its worker has not noticed: ask the children,
			// each from where it begins.
			for _, child := range pg.next {
				queue = append(queue, position{child.keys, at.continuation})
			}
			continue
		}
		switch {
		case len(pg.changes) == 0 && !pg.empty:
			queue = append(queue, pg.next[0]) // what came was not this range's
		case len(pg.changes) > 0:
			total += max(1, pg.head-pg.changes[0].LSN+1)
		}
	}
	return total, nil
}

package changefeed

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"
)

// MissingLease says where a range begins again when its lease was deleted by
// hand: nothing else knows how far it was.
type MissingLease int

const (
	// Restart takes the range up where the processor first began; see
	// [Config.StartFrom]. Everything since comes again, and nothing is lost.
	Restart MissingLease = iota
	// ResumeWithNeighbours takes the range up at the time that the one of the
	// other ranges has reached which is furthest behind, less
	// [Config.LeaseDuration]. Little comes again; but if the deleted lease was
	// further behind than all the others, what lay between is never handled.
	ResumeWithNeighbours
)

// missing is what the balancer knows of keys that no lease stands for.
type missing struct {
	ranges []keyRange
	since  time.Time
	epoch  int64 // the newest that was seen in any lease
}

// heal makes leases for keys that no lease stands for. A listing by a replica
// that is behind may lack a lease that was just made, so only what is missing
// for as long as a lease is respected is missing.
func (p *Processor) heal(ctx context.Context, leases []*lease) error {
	m := &p.missing
	for _, l := range leases {
		m.epoch = max(m.epoch, l.epoch())
	}
	gaps := uncovered(everything, rangesOf(leases))
	switch {
	case len(gaps) == 0:
		m.ranges = nil
		return nil
	case !slices.EqualFunc(gaps, m.ranges, keyRange.equal):
		m.ranges, m.since = gaps, time.Now()
		return nil
	case time.Since(m.since) < p.cfg.LeaseDuration:
		return nil
	}
	properties, from := p.resumeFrom(leases)
	// The owner of the deleted lease may still be at work, and handlers know its epoch.
	epoch, err := p.passedEpoch(ctx)
	if err != nil {
		return err
	}
	properties[propertyEpoch] = strconv.FormatInt(epoch, 10)
	for _, gap := range gaps {
		p.cfg.Logger.ErrorContext(ctx, "a lease is gone; its range is taken up again",
			"processor", p.cfg.Name, "range", gap.String(), "from", from)
		for _, at := range p.start.within(gap) {
			if p.cfg.MissingLease == ResumeWithNeighbours && properties[propertyStart] != p.start.StartFrom {
				at.continuation = ""
			}
			if err := p.store.create(ctx, at, "", properties); err != nil {
				return err
			}
		}
	}
	m.ranges = nil
	p.rebalance()
	return nil
}

// resumeFrom is where a range without a lease begins, and how to call that.
func (p *Processor) resumeFrom(leases []*lease) (properties map[string]string, from string) {
	properties = maps.Clone(p.start.properties())
	if p.cfg.MissingLease != ResumeWithNeighbours || len(leases) == 0 {
		return properties, "where the processor began"
	}
	var oldest time.Time
	for i, l := range leases {
		until, ok := l.handledUntil()
		if !ok {
			return properties, "where the processor began: not all other ranges tell how far they are"
		}
		if i == 0 || until.Before(oldest) {
			oldest = until
		}
	}
	at := oldest.Add(-p.cfg.LeaseDuration)
	properties[propertyStart] = at.UTC().Format(time.RFC3339)
	return properties, properties[propertyStart]
}

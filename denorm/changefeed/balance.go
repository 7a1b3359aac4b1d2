package changefeed

import (
	"slices"
	"time"
)

// sighting is when this instance first saw a lease in its present state. A
// lease that has not changed for the lease duration since then has a dead
// owner. Only this instance's own clock is read, so that clocks of different
// machines may differ.
type sighting struct {
	etag  string
	since time.Time
}

// watch follows the leases of others.
type watch map[string]sighting

// expired notes what is seen now and returns the ids of leases whose owners
// have not renewed them for the lease duration.
func (w watch) expired(leases []*lease, now time.Time, after time.Duration) map[string]bool {
	present := make(map[string]bool, len(leases))
	out := map[string]bool{}
	for _, l := range leases {
		present[l.ID] = true
		seen, ok := w[l.ID]
		if !ok || seen.etag != string(l.ETag) {
			w[l.ID] = sighting{string(l.ETag), now}
			continue
		}
		out[l.ID] = now.Sub(seen.since) >= after
	}
	for id := range w {
		if !present[id] {
			delete(w, id)
		}
	}
	return out
}

// share decides which leases an instance should take now, and which one it
// should ask another instance for. Every live instance is due an equal number,
// rounded up. Leases without a living owner are taken at once; only when there
// are none, and this instance has two less than another or none at all, one is
// asked for.
func share(leases []*lease, instance string, expired map[string]bool) (take []*lease, ask *lease) {
	owned := map[string][]*lease{instance: nil}
	for _, l := range leases {
		owner := l.owner()
		switch {
		case owner == instance:
			owned[instance] = append(owned[instance], l)
		case owner == "" || expired[l.ID]:
			take = append(take, l)
		default:
			owned[owner] = append(owned[owner], l)
		}
	}
	due := (len(leases) + len(owned) - 1) / len(owned)
	mine := len(owned[instance])
	if len(take) > 0 {
		return take[:max(0, min(len(take), due-mine))], nil
	}
	var richest []*lease
	for owner, theirs := range owned {
		if owner != instance && len(theirs) > len(richest) {
			richest = theirs
		}
	}
	if len(richest)-mine < 2 {
		return nil, nil
	}
	pick := slices.IndexFunc(richest, func(l *lease) bool { return l.Properties[propertyHandover] == "" })
	if pick < 0 || slices.ContainsFunc(leases, func(l *lease) bool { return l.Properties[propertyHandover] == instance }) {
		return nil, nil
	}
	return nil, richest[pick]
}

// replaced returns the leases that smaller ones cover completely: what is left
// of a split whose instance stopped before it removed the parent.
func replaced(leases []*lease) []*lease {
	var out []*lease
	for _, parent := range leases {
		whole := parent.FeedRange.Range
		var inside []keyRange
		for _, l := range leases {
			if r := l.FeedRange.Range; r != whole && whole.covers(r) {
				inside = append(inside, r)
			}
		}
		slices.SortFunc(inside, func(a, b keyRange) int {
			if a.Min != b.Min {
				if a.Min < b.Min {
					return -1
				}
				return 1
			}
			return 0
		})
		reached := whole.Min
		for _, r := range inside {
			if r.Min <= reached && r.Max > reached {
				reached = r.Max
			}
		}
		if reached >= whole.Max && len(inside) > 0 {
			out = append(out, parent)
		}
	}
	return out
}

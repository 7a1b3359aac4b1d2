package changefeed

import (
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// sighting is when this instance first saw a lease in its present state. A
// lease that has not changed for the lease duration since then has a dead
// owner. Only this instance's own clock is read, so that clocks of different
// machines may differ: the timestamp that an owner wrote is compared with
// nothing but the one that it wrote before.
type sighting struct {
	etag     azcore.ETag
	owner    string
	written  time.Time
	handover string
	since    time.Time
}

// now sees a lease again. That another instance asked for the range is no sign
// of life of its owner.
func (s sighting) now(l *lease, now time.Time) sighting {
	if s.etag == l.ETag {
		return s
	}
	next := sighting{l.ETag, l.owner(), l.Timestamp, l.Properties[propertyHandover], now}
	if next.owner == s.owner && next.written.Equal(s.written) && next.handover != s.handover {
		next.since = s.since
	}
	return next
}

// sightings follow the leases of others.
type sightings map[string]sighting

// expired notes what is seen now and returns the ids of leases whose owners
// have not renewed them for the lease duration.
func (w sightings) expired(leases []*lease, now time.Time, after time.Duration) map[string]bool {
	present := make(map[string]bool, len(leases))
	out := map[string]bool{}
	for _, l := range leases {
		present[l.ID] = true
		w[l.ID] = w[l.ID].now(l, now)
		out[l.ID] = now.Sub(w[l.ID].since) >= after
	}
	for id := range w {
		if !present[id] {
			delete(w, id)
		}
	}
	return out
}

// share decides which leases an instance should take now, and which ones it
// should ask other instances for. Every live instance is due an equal number,
// rounded up; one that was asked for counts as the asker's. Leases without a
// living owner are taken at once; only when there are none, and while another
// instance has two more than this one, the richest is asked for one.
//
// A lease is left alone when it is held: a worker of this instance has it
// still, or it is to be removed. So is a child's while its parent's is there:
// the parent's owner may be at work on the same keys.
func share(leases []*lease, instance string, expired map[string]bool, held func(id string) bool) (take, ask []*lease) {
	owned := map[string][]*lease{instance: nil}
	for _, l := range leases {
		owner := l.owner()
		free := !held(l.ID) && !slices.ContainsFunc(leases, func(parent *lease) bool { return parent.FeedRange.Range.covers(l.FeedRange.Range) })
		switch {
		case owner == instance:
			owned[instance] = append(owned[instance], l)
			if free {
				// It was handed over, or left behind by a run before.
				take = append(take, l)
			}
		case owner == "" || expired[l.ID]:
			if free {
				take = append(take, l)
			}
		default:
			if wanted := l.Properties[propertyHandover]; wanted != "" {
				owner = wanted
			}
			owned[owner] = append(owned[owner], l)
		}
	}
	due := (len(leases) + len(owned) - 1) / len(owned)
	mine := len(owned[instance])
	if len(take) > 0 {
		room := max(0, due-mine)
		return slices.DeleteFunc(take, func(l *lease) bool {
			if l.owner() == instance {
				return false
			}
			room--
			return room < 0
		}), nil
	}
	for {
		richest := ""
		for owner, theirs := range owned {
			if owner != instance && (len(theirs) > len(owned[richest]) || len(theirs) == len(owned[richest]) && owner < richest) {
				richest = owner
			}
		}
		theirs := owned[richest]
		pick := slices.IndexFunc(theirs, func(l *lease) bool { return l.Properties[propertyHandover] == "" })
		if len(theirs)-mine < 2 || pick < 0 {
			return nil, ask
		}
		ask = append(ask, theirs[pick])
		owned[richest] = slices.Delete(theirs, pick, pick+1)
		mine++
	}
}

// replaced returns the leases that smaller ones cover completely: what is left
// of a split whose instance stopped before it removed the parent.
func replaced(leases []*lease) []*lease {
	var out []*lease
	for _, parent := range leases {
		whole := parent.FeedRange.Range
		inside := slices.DeleteFunc(slices.Clone(leases), func(l *lease) bool { return !whole.covers(l.FeedRange.Range) })
		if len(inside) > 0 && len(uncovered(whole, rangesOf(inside))) == 0 {
			out = append(out, parent)
		}
	}
	return out
}

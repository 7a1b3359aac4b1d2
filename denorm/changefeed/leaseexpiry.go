package changefeed

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// observedLease is when this instance first saw a lease in its present state. A
// lease that has not changed for the lease duration since then has a dead
// owner. Only this instance's own clock is read, so that clocks of different
// machines may differ: the timestamp that an owner wrote is compared with
// nothing but the one that it wrote before.
type observedLease struct {
	etag     azcore.ETag
	owner    string
	written  time.Time
	handover string
	since    time.Time
}

// again observes the lease again. That another instance asked for the range is
// no sign of life of its owner.
func (o observedLease) again(l *lease, now time.Time) observedLease {
	if o.etag == l.ETag {
		return o
	}
	next := observedLease{l.ETag, l.owner(), l.Timestamp, l.Properties[propertyHandover], now}
	if next.owner == o.owner && next.written.Equal(o.written) && next.handover != o.handover {
		next.since = o.since
	}
	return next
}

// observedLeases are the leases of all instances, by id.
type observedLeases map[string]observedLease

// expired notes what is seen now and returns the ids of leases whose owners
// have not renewed them for the lease duration: Config.LeaseDuration (config.go, 30 s unless
// set). Leases are looked at every Config.BalanceInterval (5 s), so that a takeover comes up to that much later.
func (o observedLeases) expired(leases []*lease, now time.Time, leaseDuration time.Duration) map[string]bool {
	present := make(map[string]bool, len(leases))
	out := map[string]bool{}
	for _, l := range leases {
		present[l.ID] = true
		o[l.ID] = o[l.ID].again(l, now)
		out[l.ID] = now.Sub(o[l.ID].since) >= leaseDuration
	}
	for id := range o {
		if !present[id] {
			delete(o, id)
		}
	}
	return out
}

package store

import "time"

// expiry is when the item expires in Unix seconds, given the container's default, and whether it does.
func (it *item) expiry(containerTTL *int64) (int64, bool) {
	if containerTTL == nil {
		return 0, false
	}
	ttl := *containerTTL
	if it.ttl != 0 {
		ttl = int64(it.ttl)
	}
	if ttl < 0 {
		return 0, false
	}
	return it.ts + ttl, true
}

// live reports whether the item has not expired: no read shows one that has, from its second on. It is removed, which the
// change feed of all versions tells, by the next write to its physical partition or read of that feed (sweep).
func (it *item) live(containerTTL *int64, now time.Time) bool {
	at, expires := it.expiry(containerTTL)
	return !expires || now.Unix() < at
}

// sweep removes what has expired, each item with an LSN of its own. It needs p.mu.
func (p *partition) sweep(d *Definition, now time.Time) {
	for {
		next, ok := p.state.deadlines.Min()
		if !ok || next.at > now.Unix() {
			return
		}
		t := &txn{c: p.c, d: d, p: p, s: p.state, now: now, canon: next.it.canon, lsn: p.state.lsn + 1}
		t.change(next.it, nil, true)
		t.commit()
	}
}

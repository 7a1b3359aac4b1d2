package store

import "time"

// txn is the changes of one request to one logical partition, kept all or none: a point write (point.go), a batch (batch.go)
// or a script (script_transaction.go). Every operation checks all that can refuse it before it
// changes the state, so a single operation works on the partition's own state and a batch on a clone.
type txn struct {
	c     *Container
	d     *Definition
	p     *partition
	s     *state
	now   time.Time
	key   Key
	canon string
	// lsn is what every write of the request gets.
	lsn      int64
	versions []version
	unit     []Mutation
}

// begin needs p.mu.
func (p *partition) begin(d *Definition, key Key, canon string, atomic bool) *txn {
	t := &txn{c: p.c, d: d, p: p, now: p.c.account.now(), key: key, canon: canon}
	p.sweep(d, t.now)
	t.s = p.state
	if atomic {
		t.s = p.state.clone()
	}
	t.lsn = t.s.lsn + 1
	return t
}

// commit makes the changes the partition's state and hands them to the journal. It needs p.mu.
func (t *txn) commit() (wait func() error) {
	p := t.p
	if len(t.versions) == 0 {
		return p.durable
	}
	t.s.lsn = t.lsn
	p.state, p.page = t.s, nil
	t.unit = append(t.unit, p.remember(t.d, t.versions, t.now)...)
	if t.c.account.opts.Journal != nil {
		t.unit = append(t.unit, p.mutation())
		p.durable = t.c.account.record(t.unit...)
	}
	p.note(t.versions)
	p.replica.wrote(p.state, t.now)
	return p.durable
}

// change swaps one version of an item for another and notes it. Either may be nil.
func (t *txn) change(before, after *item, expired bool) {
	t.s.swap(before, after, t.d.DefaultTTL)
	t.versions = append(t.versions, version{lsn: t.lsn, ts: t.now.Unix(), before: before, after: after, expired: expired})
	if t.c.account.opts.Journal == nil {
		return
	}
	if after != nil {
		t.unit = append(t.unit, Mutation{Key: t.c.itemKey(after.ordinal), Value: encodeItem(after)})
	} else {
		t.unit = append(t.unit, Mutation{Key: t.c.itemKey(before.ordinal)})
	}
}

// seal makes the item that a draft becomes, in the place of old when there is one.
func (t *txn) seal(dr *draft, old *item) *item {
	version := t.c.sequence.Add(1)
	ordinal := version
	if old != nil {
		ordinal = old.ordinal
	}
	it := dr.seal(t.c, ordinal, version, t.lsn, t.now)
	t.s.share(it)
	return it
}

// position fills in where a request was served.
func (t *txn) position(r *Result) {
	r.LSN = t.p.state.lsn
	r.RangeID = t.p.name()
	r.SessionToken = t.p.sessionToken(r.LSN)
}

package store

import (
	"errors"
	"slices"
)

// Transaction is the work of a script on one logical partition: it sees its own writes, and all of them are kept or none.
// It belongs to one goroutine and ends with the function that it was given to.
type Transaction struct {
	t      *txn
	charge float64
}

// Transact runs work on a logical partition and keeps what it wrote when it returns no error. The work runs beside other
// requests; when one of them changed the physical partition meanwhile, it runs once more while they wait. It may therefore
// be called twice, each time with a transaction that begins anew.
func (c *Container) Transact(call Call, work func(*Transaction) error) (Result, error) {
	r, wait, err := c.transact(call, work, false)
	if errors.Is(err, errOvertaken) {
		r, wait, err = c.transact(call, work, true)
	}
	if err != nil {
		return r, err
	}
	return r, await(wait)
}

// errOvertaken says that a transaction did not hold its partition and found it changed at the end.
var errOvertaken = errors.New("another request changed the partition")

func (c *Container) transact(call Call, work func(*Transaction) error, hold bool) (r Result, wait func() error, err error) {
	refused := Result{Charge: chargeRefused}
	c.topology.RLock()
	locked := true
	release := func() {
		if locked {
			locked = false
			c.topology.RUnlock()
		}
	}
	defer release()
	d, p, key, err := c.target(call)
	if err != nil {
		return refused, nil, err
	}
	p.mu.Lock()
	t := p.begin(d, key, canonical(key), true)
	began := p.state.lsn
	tx := &Transaction{t: t}
	if hold {
		defer p.mu.Unlock()
	} else {
		p.mu.Unlock()
		release()
	}
	workErr := work(tx)
	if !hold {
		c.topology.RLock()
		locked = true
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.deleted || c.definition != d || p.state.lsn != began || !slices.Contains(c.partitions, p) {
			return refused, nil, errOvertaken
		}
	}
	if workErr == nil {
		wait = t.commit()
	}
	r.Charge = round2(max(tx.charge, chargeRefused))
	t.position(&r)
	return r, wait, workErr
}

// target finds the physical partition of a call that names its whole key. It needs topology.
func (c *Container) target(call Call) (*Definition, *partition, Key, error) {
	if c.deleted {
		return nil, nil, nil, parentNotFound()
	}
	d := c.definition
	if err := d.checkFull(call.Key); err != nil {
		return nil, nil, nil, err
	}
	key := d.completed(call.Key)
	p, err := c.route(d.hash(key), call.RangeID)
	return d, p, key, err
}

// Do runs one operation as in a batch. An operation that is refused changes nothing, and the transaction goes on.
func (tx *Transaction) Do(op Operation) (Result, error) {
	r, err := tx.t.operate(op)
	if err != nil {
		r.Charge = chargeRefused
		err = asError(err)
	}
	tx.charge += r.Charge
	return r, err
}

// Spend adds to the transaction's charge.
func (tx *Transaction) Spend(charge float64) { tx.charge += charge }

// IDOf finds the id of the item that has a rid (404 when it is none of the logical partition).
func (tx *Transaction) IDOf(rid string) (string, error) {
	ordinal, ok := itemOrdinal(rid)
	if ok && tx.t.c.itemRID(ordinal) == rid {
		if it, found := tx.t.s.byOrdinal.Get(&item{ordinal: ordinal}); found && it.canon == tx.t.canon {
			return it.id, nil
		}
	}
	return "", notFound()
}

// Snapshot is the logical partition as the transaction sees it now.
func (tx *Transaction) Snapshot(unindexed bool) *Snapshot {
	t := tx.t
	return &Snapshot{
		c: t.c, RangeIDs: []string{t.p.name()}, LSN: t.s.lsn, unindexed: unindexed,
		area:    area{min: t.d.hash(t.key), canon: t.canon, logical: true},
		parts:   []snapshotPart{{p: t.p, s: t.s.clone()}},
		visible: visible{ttl: t.d.DefaultTTL, now: t.now},
	}
}

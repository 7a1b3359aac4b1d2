package store

import (
	"net/http"
	"time"
)

// Call is what the requests on items have in common.
type Call struct {
	// Key is the full partition key. Reads and deletes need it; a write without one takes the document's own when
	// KeyFromBody is set and is 400 otherwise.
	Key         Key
	KeyFromBody bool
	// Precondition holds If-Match and If-None-Match.
	Precondition
	// SessionToken is x-ms-session-token.
	SessionToken string
	// RangeID is x-ms-documentdb-partitionkeyrangeid: the request is 410/1002 when that range doesn't own the key.
	RangeID string
	// Behind is how many of the latest writes the replica that answers a read has not seen.
	Behind int
	// Unindexed keeps the item that is written out of queries (x-ms-indexing-directive: Exclude).
	Unindexed bool
	// Minimal says that the answer leaves the written documents out (Prefer: return=minimal), so that they don't count
	// against the limit of a batch's answer.
	Minimal bool

	// durable, when set, receives how to wait for the write instead of the write waiting: bulk requests wait once.
	durable *func() error
}

// Result is what a request on an item answers. With an error its fields of position and charge are still set, as far as
// the request got.
type Result struct {
	// Status is 200, 201, 204 or 304; zero beside an error.
	Status int
	// Body is the document after the request; nil after a delete and for 304. It must not be changed.
	Body []byte
	// ETag is the document's etag with its quotes; empty after a delete.
	ETag string
	// Charge is in request units.
	Charge float64
	// LSN is the partition's, ItemLSN that of the item's last write (reads only).
	LSN, ItemLSN int64
	// RangeID is the physical partition that served the request, SessionToken its token.
	RangeID, SessionToken string
}

// CreateItem adds an item (201; 400, 403/1014, 409, 413).
func (c *Container) CreateItem(call Call, body []byte) (Result, error) {
	return c.write(call, present(body), func(t *txn, dr *draft) (Result, error) { return t.create(dr) })
}

// UpsertItem adds (201) or replaces (200) an item. If-Match counts only when the item exists (412).
func (c *Container) UpsertItem(call Call, body []byte) (Result, error) {
	return c.write(call, present(body), func(t *txn, dr *draft) (Result, error) { return t.upsert(dr, call.Precondition) })
}

// ReplaceItem replaces the item that has the id; the body may rename it (200; 400/1001, 404, 409, 412, 413).
func (c *Container) ReplaceItem(call Call, id string, body []byte) (Result, error) {
	return c.write(call, present(body), func(t *txn, dr *draft) (Result, error) { return t.replace(id, dr, call.Precondition) })
}

// DeleteItem removes an item (204; 404, 412).
func (c *Container) DeleteItem(call Call, id string) (Result, error) {
	return c.write(call, nil, func(t *txn, _ *draft) (Result, error) { return t.remove(id, call.Precondition) })
}

// PatchItem changes parts of an item (200; 400, 404, 412, 413).
func (c *Container) PatchItem(call Call, id string, p Patch) (Result, error) {
	if err := p.check(); err != nil {
		return Result{Charge: chargeRefused}, err
	}
	return c.write(call, nil, func(t *txn, _ *draft) (Result, error) { return t.patch(id, p, call.Precondition) })
}

// present tells an empty body, which is bad JSON, from a request that has none.
func present(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}

// write runs one operation on the partition that owns its key. Bodies are checked before the partition is locked.
func (c *Container) write(call Call, body []byte, operate func(*txn, *draft) (Result, error)) (Result, error) {
	refused := Result{Charge: chargeRefused}
	c.topology.RLock()
	defer c.topology.RUnlock()
	if c.deleted {
		return refused, parentNotFound()
	}
	d := c.definition
	dr, key, err := d.prepare(call, body)
	if err != nil {
		return refused, err
	}
	canon := canonical(key)
	p, err := c.route(d.hash(key), call.RangeID)
	if err != nil {
		return refused, err
	}
	p.mu.Lock()
	t := p.begin(d, key, canon, false)
	r, err := operate(t, dr)
	wait := nothingToWrite
	if err == nil {
		wait = t.commit()
	} else if r.Charge == 0 {
		r.Charge = chargeRefused
	}
	t.position(&r)
	p.mu.Unlock()
	if err != nil {
		return r, err
	}
	if call.durable != nil {
		*call.durable = wait
		return r, nil
	}
	return r, await(wait)
}

// prepare checks the body, if there is one, and agrees on the key.
func (d *Definition) prepare(call Call, body []byte) (*draft, Key, error) {
	var dr *draft
	if body != nil {
		var err error
		if dr, err = d.draft(body); err != nil {
			return nil, nil, err
		}
		dr.unindexed = call.Unindexed
		if call.Key == nil && call.KeyFromBody {
			return dr, dr.key, nil
		}
	}
	if err := d.checkFull(call.Key); err != nil {
		return nil, nil, err
	}
	key := d.completed(call.Key)
	if dr != nil && dr.canon != canonical(key) {
		return nil, nil, refuse(http.StatusBadRequest, SubstatusKeyMismatch, textWrongKey)
	}
	return dr, key, nil
}

func (t *txn) create(dr *draft) (Result, error) {
	if t.s.find(t.canon, dr.id) != nil {
		return Result{}, refuse(http.StatusConflict, 0, textConflict)
	}
	return t.put(dr, nil, http.StatusCreated)
}

func (t *txn) upsert(dr *draft, p Precondition) (Result, error) {
	old := t.s.find(t.canon, dr.id)
	if old == nil {
		return t.put(dr, nil, http.StatusCreated)
	}
	if err := p.check(old.etag()); err != nil {
		return Result{}, err
	}
	return t.put(dr, old, http.StatusOK)
}

func (t *txn) replace(id string, dr *draft, p Precondition) (Result, error) {
	old := t.s.find(t.canon, id)
	if old == nil {
		return Result{}, notFound()
	}
	if err := p.check(old.etag()); err != nil {
		return Result{}, err
	}
	if dr.id != id && t.s.find(t.canon, dr.id) != nil {
		return Result{}, refuse(http.StatusConflict, 0, textConflict)
	}
	return t.put(dr, old, http.StatusOK)
}

// put writes what everything else has allowed.
func (t *txn) put(dr *draft, old *item, status int) (Result, error) {
	if err := t.s.checkUnique(dr, old); err != nil {
		return Result{}, err
	}
	it := t.seal(dr, old)
	growth := int64(len(it.raw))
	if old != nil {
		growth -= int64(len(old.raw))
	}
	if growth > 0 && t.s.logicalBytes(t.canon)+growth > t.c.account.opts.LogicalPartitionLimit {
		return Result{}, refuse(http.StatusForbidden, SubstatusLogicalPartitionFull,
			"Partition key reached maximum size. Delete or move items of this partition key value, or choose a partition key with more values.")
	}
	r := Result{Status: status, Body: it.raw, ETag: it.etag(), Charge: chargeChange(it)}
	if old == nil {
		r.Charge = chargeCreate(it)
	}
	t.change(old, it, false)
	return r, nil
}

func (t *txn) remove(id string, p Precondition) (Result, error) {
	old := t.s.find(t.canon, id)
	if old == nil {
		return Result{}, notFound()
	}
	if err := p.check(old.etag()); err != nil {
		return Result{}, err
	}
	t.change(old, nil, false)
	return Result{Status: http.StatusNoContent, Charge: chargeChange(old)}, nil
}

// ReadItem returns an item (200, 304; 404, 404/1002).
func (c *Container) ReadItem(call Call, id string) (Result, error) {
	missed := Result{Charge: chargeMiss}
	c.topology.RLock()
	defer c.topology.RUnlock()
	if c.deleted {
		return missed, parentNotFound()
	}
	d := c.definition
	if err := d.checkFull(call.Key); err != nil {
		return missed, err
	}
	session, err := parseSession(call.SessionToken)
	if err != nil {
		return missed, err
	}
	key := d.completed(call.Key)
	p, err := c.route(d.hash(key), call.RangeID)
	if err != nil {
		return missed, err
	}
	now := c.account.now()
	it, lsn, wait := p.lookup(canonical(key), id, now, call.Behind)
	r := Result{Charge: chargeMiss, LSN: lsn, RangeID: p.name(), SessionToken: p.sessionToken(lsn)}
	if err := p.checkSession(session, lsn); err != nil {
		return r, err
	}
	if err := await(wait); err != nil {
		return r, err
	}
	return r, r.show(it, d, call.Precondition, now)
}

// lookup finds an item for reading, live or not.
func (p *partition) lookup(canon, id string, now time.Time, behind int) (*item, int64, func() error) {
	p.mu.RLock()
	if p.replica.lag == 0 && behind == 0 || behind == UpToDate {
		defer p.mu.RUnlock()
		return p.state.find(canon, id), p.state.lsn, p.durable
	}
	p.mu.RUnlock()
	s, wait := p.view(now, behind)
	return s.find(canon, id), s.lsn, wait
}

// show fills in the answer to a read of an item (200, 304; 404). The service looks at If-Match on writes only.
func (r *Result) show(it *item, d *Definition, p Precondition, now time.Time) error {
	if it == nil || !it.live(d.DefaultTTL, now) {
		return notFound()
	}
	r.Charge, r.ETag, r.ItemLSN = chargeRead(it), it.etag(), it.lsn
	if p.unchanged(r.ETag) {
		r.Status = http.StatusNotModified
		return nil
	}
	r.Status, r.Body = http.StatusOK, it.raw
	return nil
}

// DeleteKey removes every item of one logical partition (200). The service does it in the background; here it is done
// when the answer comes.
func (c *Container) DeleteKey(call Call) (Result, error) {
	return c.write(call, nil, func(t *txn, _ *draft) (Result, error) {
		r := Result{Status: http.StatusOK, Charge: chargeRefused}
		for _, it := range t.s.logicalItems(t.d.hash(t.key), t.canon) {
			t.change(it, nil, false)
			r.Charge += chargeChange(it)
		}
		r.Charge = round2(r.Charge)
		return r, nil
	})
}

// logicalItems lists the items of one logical partition in the order of their rids, touching no other.
func (s *state) logicalItems(hash, canon string) []*item {
	var items []*item
	s.byKey.Ascend(&item{epk: hash, canon: canon}, func(it *item) bool {
		if it.epk != hash || it.canon != canon {
			return false
		}
		items = append(items, it)
		return true
	})
	return items
}

package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// underFaults runs an operation and what the emulator's faults make of it.
func (c *call) underFaults(op operation) (*Answer, error) {
	set := c.h.cfg.Faults
	if op.name != faults.ReadAccount { // the SDK makes it at times of its own
		for _, apply := range faults.Arrived(set, c.client) {
			apply()
		}
	}
	effect, faulted := faults.Decide(set, c.target(op))
	if err := c.hold(effect); err != nil {
		return nil, err
	}
	if effect.Split || effect.Merge {
		c.reshape(effect)
	}
	c.opts.behind = c.staleness(effect.Behind)
	c.opts.shorten(effect.PageSize)
	entry := Exchange{Faulted: faulted}
	replaced := effect.Status != 0 || effect.Cut
	if effect.Late {
		faults.Hold(set, c.client, effect.LateBy, func() { c.performLate(op) })
	}
	if replaced && (!effect.After || effect.Late) {
		return c.conclude(c.refusal(faultAnswer(effect), nil), nil, effect, entry)
	}
	r, e := op.serve(c)
	if effect.EmptyPage && e == nil && r.isFeed {
		c.empty(r)
	}
	if effect.OtherForm && e == nil {
		r.otherForm()
	}
	var answer *Answer
	switch {
	case effect.Status != 0:
		answer = c.refusal(faultAnswer(effect), r)
	case e != nil:
		answer = c.refusal(e, r)
	default:
		answer = c.success(r)
	}
	if effect.Suspend > 0 && effect.SuspendAfter {
		if err := c.suspend(effect); err != nil {
			return nil, err
		}
	}
	return c.conclude(answer, r, effect, entry)
}

// target is what the faults may ask of the request.
func (c *call) target(op operation) faults.Target {
	t := faults.Target{
		Operation: op.name, Client: c.client,
		Database: c.link.database, Container: c.link.container, Item: c.link.item,
	}
	if t.Item == "" && (op.name == faults.CreateItem || op.name == faults.UpsertItem) && faults.NamesItems(c.h.cfg.Faults) {
		var document struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(c.body, &document) == nil {
			t.Item = document.ID
		}
	}
	return t
}

// hold keeps a request back: because its client is suspended, or because of a delay.
func (c *call) hold(effect faults.Effect) error {
	if effect.Suspend > 0 && !effect.SuspendAfter {
		if err := c.suspend(effect); err != nil {
			return err
		}
	} else if wait := faults.SuspendedFor(c.h.cfg.Faults, c.client, c.h.cfg.Clock()); wait > 0 {
		if err := c.h.cfg.Wait(c.ctx, wait); err != nil {
			return fmt.Errorf("waiting for the end of the client's suspension: %w", err)
		}
	}
	if effect.Delay > 0 {
		if err := c.h.cfg.Wait(c.ctx, effect.Delay); err != nil {
			return fmt.Errorf("waiting out a fault's delay: %w", err)
		}
	}
	return nil
}

func (c *call) suspend(effect faults.Effect) error {
	faults.SuspendUntil(c.h.cfg.Faults, c.client, c.h.cfg.Clock().Add(effect.Suspend))
	// The context's deadline is not looked at: a process that stands still doesn't notice it.
	if err := c.h.cfg.Wait(context.WithoutCancel(c.ctx), effect.Suspend); err != nil {
		return fmt.Errorf("waiting for the end of the client's suspension: %w", err)
	}
	return nil
}

// performLate lets a request take effect whose client was told something else.
func (c *call) performLate(op operation) {
	c.ctx = context.WithoutCancel(c.ctx)
	r, e := op.serve(c)
	entry := Exchange{Faulted: true, Late: true, Cut: true}
	if e != nil {
		c.record(c.refusal(e, r), r, entry)
		return
	}
	c.record(c.success(r), r, entry)
}

// empty takes the items out of a page; its continuation leads to where the page began.
func (c *call) empty(r *result) {
	if c.operation != faults.QueryItems && c.operation != faults.ListItems {
		return
	}
	r.body, r.itemCount = feedBody(r.containerRID, "Documents", nil), 0
	r.continuation = againPrefix + c.opts.continuation
}

// againPrefix begins the continuation of an empty page; what follows is the continuation of the page before it.
const againPrefix = "again-"

// shorten lets a page hold n items at most; 0 changes nothing.
func (o *options) shorten(n int) {
	if n > 0 && (o.maxItems <= 0 || o.maxItems > n) {
		o.maxItems = min(n, math.MaxInt32)
	}
	o.continuation = usualForm(o.continuation)
}

// reshape splits or merges the physical partition that the request goes to. What can't be (a range too narrow, no
// neighbour, no such container) stays as it is.
func (c *call) reshape(effect faults.Effect) {
	container, e := c.parentOf()
	if e != nil {
		return
	}
	scope, e := c.scope(container)
	if e != nil {
		scope = store.Scope{RangeID: c.opts.rangeID}
	}
	snapshot, err := container.Snapshot(scope, "")
	if err != nil || len(snapshot.RangeIDs) == 0 {
		return
	}
	id := snapshot.RangeIDs[0]
	if effect.Split {
		_, _ = container.Split(id) // too narrow: stays as it is
	}
	if !effect.Merge {
		return
	}
	ranges, _ := container.Ranges()
	for i, r := range ranges {
		switch {
		case r.ID != id:
		case i+1 < len(ranges):
			_, _ = container.Merge(id, ranges[i+1].ID) // as above
		case i > 0:
			_, _ = container.Merge(ranges[i-1].ID, id) // as above
		}
	}
}

func (c *call) conclude(answer *Answer, r *result, effect faults.Effect, entry Exchange) (*Answer, error) {
	entry.Cut, entry.Killed = effect.Cut, effect.Kill
	c.record(answer, r, entry)
	if effect.Cut {
		return nil, ErrCut
	}
	return answer, nil
}

func faultAnswer(effect faults.Effect) *store.Error {
	e := fail(effect.Status, effect.Substatus, "This answer was asked for by a fault of the emulator.")
	e.RetryAfter = effect.RetryAfter
	return e
}

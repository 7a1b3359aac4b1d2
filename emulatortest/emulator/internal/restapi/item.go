package restapi

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// itemCall gathers what the headers say for a request on items.
func (c *call) itemCall() store.Call {
	call := store.Call{
		Precondition: c.precondition(),
		SessionToken: c.opts.sessionToken,
		RangeID:      c.opts.rangeID,
		Behind:       c.opts.behind,
		Unindexed:    c.opts.noIndex,
		Minimal:      c.opts.minimal,
	}
	if c.opts.hasPartitionKey {
		call.Key = store.Key(c.opts.partitionKey)
	}
	return call
}

// onItem runs a request on one item: it finds the container, keeps to its throughput and books the charge.
func (c *call) onItem(run func(*store.Container, store.Call) (store.Result, error)) (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	if err := container.Admit(); err != nil {
		return nil, refused(err)
	}
	answer, err := run(container, c.itemCall())
	container.Spend(answer.Charge)
	r := positioned(container, answer)
	return r, refused(err)
}

// positioned carries a store's answer into the headers.
func positioned(container *store.Container, answer store.Result) *result {
	r := placed(container)
	r.status, r.body, r.etag, r.charge = answer.Status, answer.Body, answer.ETag, answer.Charge
	r.lsn, r.itemLSN = answer.LSN, answer.ItemLSN
	r.rangeID, r.sessionToken = answer.RangeID, answer.SessionToken
	if answer.RangeID != "" {
		r.ranges = 1
	}
	return r
}

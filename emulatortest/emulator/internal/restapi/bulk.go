package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Bulk: POST /dbs/{db}/colls/{c}/docs with x-ms-cosmos-is-batch-request and x-ms-cosmos-batch-atomic: false
//
// Supported: up to 100 operations, each with its own partition key and standing alone, on one physical partition. 200 when
// all succeed, else 207; 410/1002 when the range named owns one of the keys no more.
// Differs from the service: x-ms-cosmos-batch-continue-on-error is taken as true, as the SDKs send it.

func (c *call) runBulk() (*result, *store.Error) {
	operations, e := c.operations()
	if e != nil {
		return nil, e
	}
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	if err := container.Admit(); err != nil {
		return nil, refused(err)
	}
	bulk, err := container.Bulk(c.itemCall(), operations)
	container.Spend(bulk.Charge)
	if err != nil {
		return positioned(container, bulk.Result), refused(err)
	}
	r, e := c.batchAnswer(container, operations, &bulk)
	if e == nil {
		r.fanOut = true
	}
	return r, e
}

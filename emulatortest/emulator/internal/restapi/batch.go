package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Transactional batch: POST /dbs/{db}/colls/{c}/docs with x-ms-cosmos-is-batch-request and x-ms-cosmos-batch-atomic
//
// Supported: up to 100 operations on one logical partition, all or none, in order, each seeing the effects of those before it. 200 when all
// succeed, else 207 with the failing operation's status and 424 for the others; 413 for the operation whose document makes
// the answer pass 4 MB; 400 and 413 for the whole above the limits.

func (c *call) runBatch() (*result, *store.Error) {
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
	batch, err := container.Batch(c.itemCall(), operations)
	container.Spend(batch.Charge)
	if err != nil {
		return positioned(container, batch.Result), refused(err)
	}
	return c.batchAnswer(container, operations, &batch)
}

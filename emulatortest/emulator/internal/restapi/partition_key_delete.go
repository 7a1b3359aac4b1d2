package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Delete by partition key: POST /dbs/{db}/colls/{c}/operations/partitionkeydelete
//
// Supported: all items of the logical partition in the partition key header. 200; 400 without a full key.
// Differs from the service: the items are gone when the answer comes, where the service deletes in the background with a
// share of the throughput.

func (c *call) deleteByPartitionKey() (*result, *store.Error) {
	if !c.opts.hasPartitionKey {
		return nil, badRequest("Deleting by partition key needs the x-ms-documentdb-partitionkey header.")
	}
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		answer, err := container.DeleteKey(call)
		if err == nil {
			answer.Status = http.StatusOK
		}
		return answer, err
	})
}

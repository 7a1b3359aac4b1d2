package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Read item: GET /dbs/{db}/colls/{c}/docs/{id}
//
// Supported: 200; 304 when If-None-Match holds the present etag or *; 404; 404/1002 when the session token is ahead of the
// replica; 400 for a partition key header that is missing or has another number of components (1001 for a prefix).
// Differs from the service: 404 costs 1 RU, 304 as much as a hit.

func (c *call) readItem() (*result, *store.Error) {
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.ReadItem(call, c.link.item)
	})
}

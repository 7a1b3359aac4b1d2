package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Create item: POST /dbs/{db}/colls/{c}/docs
//
// Supported: 201 with the item, or without it for return=minimal; 400 without an id, with a bad one, or with a partition key
// header that is missing, short, long or unlike the document's (1001); 403/1014 for a full logical partition; 409 for a taken id or unique
// key; 413 above 2 MB. x-ms-indexing-directive: Exclude keeps the item out of queries.
// A trigger named in x-ms-documentdb-pre-trigger-include or -post-trigger-include runs in the same transaction; see trigger.go.
// Differs from the service: nothing known.

func (c *call) createItem() (*result, *store.Error) {
	if c.opts.triggers() {
		return c.onTriggeredItem(store.OpCreate, "Create", "")
	}
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.CreateItem(call, c.body)
	})
}

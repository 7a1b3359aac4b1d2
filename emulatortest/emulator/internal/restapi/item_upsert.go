package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Upsert item: POST /dbs/{db}/colls/{c}/docs with x-ms-documentdb-is-upsert
//
// Supported: 201 when the item is new, 200 when it was replaced; If-Match counts only for an item that exists (412); otherwise as a create.
// A trigger named in x-ms-documentdb-pre-trigger-include or -post-trigger-include runs in the same transaction; see trigger.go.
// Differs from the service: nothing known.

func (c *call) upsertItem() (*result, *store.Error) {
	if c.opts.triggers() {
		return c.onTriggeredItem(store.OpUpsert, "Upsert", "")
	}
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.UpsertItem(call, c.body)
	})
}

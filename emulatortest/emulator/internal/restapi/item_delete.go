package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Delete item: DELETE /dbs/{db}/colls/{c}/docs/{id}
//
// Supported: 204 without body and etag; 404; 412 when If-Match holds another etag.
// A trigger named in x-ms-documentdb-pre-trigger-include or -post-trigger-include runs in the same transaction; see trigger.go.
// Differs from the service: nothing known.

func (c *call) deleteItem() (*result, *store.Error) {
	if c.opts.triggers() {
		return c.onTriggeredItem(store.OpDelete, "Delete", c.link.item)
	}
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.DeleteItem(call, c.link.item)
	})
}

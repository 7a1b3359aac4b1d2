package edge

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Delete item: DELETE /dbs/{db}/colls/{c}/docs/{id}
//
// Supported: 204 without body and etag; 404; 412 when If-Match holds another etag.
// Differs from the service: triggers named in headers are refused.

func (c *call) deleteItem() (*result, *store.Error) {
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.DeleteItem(call, c.link.item)
	})
}

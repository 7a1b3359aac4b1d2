package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Replace item: PUT /dbs/{db}/colls/{c}/docs/{id}
//
// Supported: 200, also when the body renames the item; 400/1001 when it would change the partition key; 404; 409 when the new
// id or a unique key is taken; 412 when If-Match holds another etag; 413.
// A trigger named in x-ms-documentdb-pre-trigger-include or -post-trigger-include runs in the same transaction; see trigger.go.
// Differs from the service: nothing known.

func (c *call) replaceItem() (*result, *store.Error) {
	if c.opts.triggers() {
		return c.onTriggeredItem(store.OpReplace, "Replace", c.link.item)
	}
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.ReplaceItem(call, c.link.item, c.body)
	})
}

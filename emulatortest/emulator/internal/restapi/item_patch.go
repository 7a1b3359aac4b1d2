package restapi

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Patch item: PATCH /dbs/{db}/colls/{c}/docs/{id}
//
// Supported: add, set, replace, remove, incr and move, at most 10, in order, all or none; a condition in SQL; If-Match. 200; 400 with the
// number of the operation at fault; 404; 412, with 1110 when the condition is false; 413.
// Differs from the service: two patches of one item at the same time are queued, where the service may answer 449.

func (c *call) patchItem() (*result, *store.Error) {
	patch, e := c.patchOf(c.body)
	if e != nil {
		return nil, e
	}
	return c.onItem(func(container *store.Container, call store.Call) (store.Result, error) {
		return container.PatchItem(call, c.link.item, patch)
	})
}

// patchOf reads a patch and compiles its condition.
func (c *call) patchOf(body []byte) (store.Patch, *store.Error) {
	patch, err := store.ParsePatch(body)
	if err != nil {
		return patch, refused(err)
	}
	return patch, c.compileCondition(&patch)
}

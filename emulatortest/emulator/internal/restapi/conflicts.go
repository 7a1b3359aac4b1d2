package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Conflicts: /dbs/{db}/colls/{c}/conflicts
//
// Supported: the feed and queries of it, which are empty: an account with one write region has no conflicts. A conflict is
// 404 for a read and for a delete; clients can't make one (405).
// Differs from the service: with several write regions the service lists conflicts that its policy left open.

const conflictFeed = "Conflicts"

func (c *call) listConflicts() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	return c.listed(container.Resource().RID, conflictFeed, nil)
}

func (c *call) queryConflicts() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	return c.queryResources(container.Resource().RID, conflictFeed, nil)
}

func (c *call) createConflict() (*result, *store.Error) {
	return nil, fail(http.StatusMethodNotAllowed, 0, "The requested verb is not supported for this kind of resource.")
}

func (c *call) missingConflict() (*result, *store.Error) {
	if _, e := c.parentOf(); e != nil {
		return nil, e
	}
	return nil, fail(http.StatusNotFound, 0, "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found")
}

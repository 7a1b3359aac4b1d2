package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// List containers: GET /dbs/{db}/colls
//
// Supported: all containers in the order of their creation, in pages of x-ms-max-item-count. 404/1003 when the database is missing.
// Differs from the service: without x-ms-max-item-count the page holds them all.

func (c *call) listContainers() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	return c.listed(db.Resource().RID, "DocumentCollections", bodiesOf(db.Containers()))
}

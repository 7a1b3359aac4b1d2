package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// List databases: GET /dbs
//
// Supported: all databases in the order of their creation, in pages of x-ms-max-item-count.
// Differs from the service: without x-ms-max-item-count the page holds them all.

func (c *call) listDatabases() (*result, *store.Error) {
	return c.listed("", "Databases", bodiesOf(c.h.cfg.Account.Databases()))
}

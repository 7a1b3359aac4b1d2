package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Create database: POST /dbs
//
// Supported: the id, and manual or autoscale throughput in the headers. 201; 400 for a bad id or throughput, 409/3206 when
// the id is taken.
// Differs from the service: the limit on databases per account is not kept.

func (c *call) createDatabase() (*result, *store.Error) {
	t, e := c.throughputAsked()
	if e != nil {
		return nil, e
	}
	db, err := c.h.cfg.Account.CreateDatabase(c.body, t)
	if err != nil {
		return nil, refused(err)
	}
	return described(http.StatusCreated, db.Resource()), nil
}

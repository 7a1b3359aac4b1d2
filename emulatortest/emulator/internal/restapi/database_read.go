package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Read database: GET /dbs/{db}
//
// Supported: by name or by rid. 200; 304 when If-None-Match holds the present etag; 404.
// Differs from the service: nothing known.

func (c *call) readDatabase() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, e
	}
	return c.unlessUnchanged(described(http.StatusOK, db.Resource())), nil
}

// unlessUnchanged turns an answer into 304 when the client already has it.
func (c *call) unlessUnchanged(r *result) *result {
	if c.opts.ifNoneMatch != "" && (c.opts.ifNoneMatch == r.etag || c.opts.ifNoneMatch == "*") {
		r.status, r.body = http.StatusNotModified, nil
	}
	return r
}

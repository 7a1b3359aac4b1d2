package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Delete database: DELETE /dbs/{db}
//
// Supported: the database with all that is in it, at once. 204; 404; 412 when If-Match holds another etag.
// Differs from the service: nothing is deleted in the background.

func (c *call) deleteDatabase() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, e
	}
	if err := db.Delete(c.precondition()); err != nil {
		return nil, refused(err)
	}
	return &result{status: http.StatusNoContent, charge: metadataCharge}, nil
}

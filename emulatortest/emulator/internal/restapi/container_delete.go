package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Delete container: DELETE /dbs/{db}/colls/{c}
//
// Supported: the container with all its items and its offer, at once. 204; 404; 412 when If-Match holds another etag.
// Differs from the service: nothing is deleted in the background.

func (c *call) deleteContainer() (*result, *store.Error) {
	container, e := c.containerOf()
	if e != nil {
		return nil, e
	}
	if err := container.Delete(c.precondition()); err != nil {
		return nil, refused(err)
	}
	return &result{status: http.StatusNoContent, charge: metadataCharge}, nil
}

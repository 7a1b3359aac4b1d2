package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Replace container: PUT /dbs/{db}/colls/{c}
//
// Supported: everything but the id, the partition key and the unique keys, which are 400. 200; 404; 412 when If-Match holds another etag.
// Differs from the service: the change is in force at once.

func (c *call) replaceContainer() (*result, *store.Error) {
	container, e := c.containerOf()
	if e != nil {
		return nil, e
	}
	if e := c.checkProperties(); e != nil {
		return nil, e
	}
	resource, err := container.Replace(c.body, c.precondition())
	if err != nil {
		return nil, refused(err)
	}
	r := placed(container)
	r.status, r.body, r.etag, r.charge = http.StatusOK, resource.Body, resource.ETag, metadataCharge
	return r, nil
}

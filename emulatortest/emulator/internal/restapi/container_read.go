package restapi

import (
	"fmt"
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Read container: GET /dbs/{db}/colls/{c}
//
// Supported: by name or by rid; x-ms-documentdb-populatequotainfo adds quota, usage and the progress of indexing. 200; 304
// when If-None-Match holds the present etag; 404, with 1003 when the database is missing.
// Differs from the service: a changed indexing policy is in force at once, so that the progress is always 100.

func (c *call) readContainer() (*result, *store.Error) {
	container, e := c.containerOf()
	if e != nil {
		return nil, e
	}
	r := placed(container)
	resource := container.Resource()
	r.status, r.body, r.etag, r.charge = http.StatusOK, resource.Body, resource.ETag, metadataCharge
	if c.opts.quotaInfo {
		usage := container.Usage()
		kb := usage.Bytes / 1024
		r.set("x-ms-resource-quota", resourceQuota)
		r.set("x-ms-resource-usage", fmt.Sprintf("documentSize=%d;documentsSize=%d;documentsCount=%d;collectionSize=%d;",
			kb, kb, usage.Documents, kb))
		r.set("x-ms-documentdb-collection-index-transformation-progress", "100")
	}
	return c.unlessUnchanged(r), nil
}

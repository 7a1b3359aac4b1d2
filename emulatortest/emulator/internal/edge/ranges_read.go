package edge

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Read partition key ranges: GET /dbs/{db}/colls/{c}/pkranges
//
// Supported: all live ranges in one page, with an etag that changes when a range is split or merged; 304 with that etag for
// an If-None-Match that holds it, which is how incremental readers know that they have all. 404/1003 without the container.
// Differs from the service: an incremental read after a split repeats the ranges that the client knows already.

func (c *call) readRanges() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	r := placed(container)
	r.charge = metadataCharge
	ranges, etag := container.Ranges()
	r.etag = etag
	if c.opts.ifNoneMatch != "" && c.opts.ifNoneMatch == etag {
		r.status = http.StatusNotModified
		return r, nil
	}
	bodies := make([][]byte, len(ranges))
	for i, one := range ranges {
		bodies[i] = one.Body
	}
	r.status, r.isFeed, r.itemCount = http.StatusOK, true, len(ranges)
	r.body = feedBody(r.containerRID, "PartitionKeyRanges", bodies)
	return r, nil
}

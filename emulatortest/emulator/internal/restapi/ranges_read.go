package restapi

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

// Read partition key range: GET /dbs/{db}/colls/{c}/pkranges/{id or rid}
//
// Supported: a live range, by its id in a link of names and by its rid in a link of rids. 200; 404 for one that is gone.
// Differs from the service: whether it serves single ranges at all is not established; ranges name themselves with such a link.

func (c *call) readRange() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	r := placed(container)
	r.charge = metadataCharge
	ranges, _ := container.Ranges()
	for _, one := range ranges {
		if (c.byRID == nil && one.ID == c.link.item) || (c.byRID != nil && one.RID == c.link.segments[5]) {
			r.status, r.body, r.etag = http.StatusOK, one.Body, one.ETag
			return c.unlessUnchanged(r), nil
		}
	}
	return r, refused(store.NotFound())
}

package restapi

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Change feed: GET /dbs/{db}/colls/{c}/docs with A-IM
//
// Supported: Incremental Feed (each item once, in its latest version) and Full-Fidelity Feed (all versions and deletes) of a partition
// key, a physical partition or a range of hashes; from the beginning, from If-Modified-Since, from now (If-None-Match: *) or
// from an etag of the feed. 200; 304 with the etag when nothing is new; 410/1002 for a range that was split or merged. The
// children of a split accept the etags of their parent.
// Differs from the service: several physical partitions can't be read by one request without naming one of them, and changes
// of one batch are never spread over two pages.

func (c *call) readChangeFeed() (*result, *store.Error) {
	start, e := c.feedStart()
	if e != nil {
		return nil, e
	}
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	if err := container.Admit(); err != nil {
		return nil, refused(err)
	}
	scope, e := c.scope(container)
	if e != nil {
		return nil, e
	}
	read := container.LatestVersions
	if c.opts.fullFidelity {
		read = container.AllVersions
	}
	page, err := read(store.FeedRequest{
		Scope:        scope,
		Start:        start,
		SessionToken: c.opts.sessionToken,
		MaxItems:     c.feedItems(),
	})
	container.Spend(page.Charge)
	r := placed(container)
	r.etag, r.lsn, r.charge = page.ETag, page.LSN, page.Charge
	r.rangeID, r.sessionToken = page.RangeID, page.SessionToken
	r.ranges = 1
	if err != nil {
		return r, refused(err)
	}
	r.isFeed, r.itemCount = true, len(page.Documents)
	if len(page.Documents) == 0 {
		r.status = http.StatusNotModified
		return r, nil
	}
	r.status = http.StatusOK
	r.body = feedBody(r.containerRID, "Documents", page.Documents)
	return r, nil
}

// feedStart reads where the client wants to go on: an etag of this feed is the LSN of the last change seen, in quotes.
func (c *call) feedStart() (store.FeedStart, *store.Error) {
	switch c.opts.ifNoneMatch {
	case "":
		return store.FeedStart{Since: c.opts.ifModifiedSince}, nil
	case "*":
		return store.FeedStart{Now: true}, nil
	}
	lsn, err := strconv.ParseInt(strings.Trim(c.opts.ifNoneMatch, `"`), 10, 64)
	if err != nil || lsn < 0 {
		return store.FeedStart{}, badRequest("The If-None-Match header is not an etag of this change feed.")
	}
	return store.FeedStart{AfterLSN: lsn}, nil
}

// feedItems is how many changes fit on a page: -1 asks for as many as its bytes allow.
func (c *call) feedItems() int {
	if c.opts.maxItems < 0 {
		return math.MaxInt32
	}
	return c.opts.maxItems
}

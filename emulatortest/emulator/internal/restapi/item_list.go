package restapi

import (
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// List items: GET /dbs/{db}/colls/{c}/docs
//
// Supported: the items of the container, of a partition key (whole or prefix), of a physical partition or of a range of hashes, in the
// order of their rids, in pages of x-ms-max-item-count or 100 items and at most 4 MB.
// Differs from the service: nothing known.

const (
	listTokenPrefix = "l1-"
	defaultPage     = 100
	maxPageBytes    = 4 << 20
)

func (c *call) listItems() (*result, *store.Error) {
	after, ok := strings.CutPrefix(c.opts.continuation, listTokenPrefix)
	if !ok && c.opts.continuation != "" {
		return nil, badRequest("The continuation token in x-ms-continuation is not one of this feed.")
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
	scope.Unindexed = true // leaving an item out of the index hides it from queries, not from the feed
	snapshot, err := container.Snapshot(scope, c.opts.sessionToken)
	if err != nil {
		return placed(container), refused(err)
	}
	limit := c.opts.maxItems
	if limit == 0 {
		limit = defaultPage
	}
	r := snapped(container, snapshot)
	r.fanOut = !c.opts.hasPartitionKey
	var page [][]byte
	size, last := 0, ""
	for document := range snapshot.Items(after) {
		if (limit > 0 && len(page) == limit) || (len(page) > 0 && size+document.Size() > maxPageBytes) {
			r.continuation = listTokenPrefix + last
			break
		}
		page = append(page, document.Raw)
		size += document.Size()
		last = document.RID
	}
	r.status, r.isFeed, r.itemCount = http.StatusOK, true, len(page)
	r.body = feedBody(r.containerRID, "Documents", page)
	r.charge = store.RequestChargeQuery(r.ranges, len(page), size)
	container.Spend(r.charge)
	return r, nil
}

// scope is what the headers narrow a feed or query to. A key in the header has to be whole: clients give a prefix as a
// range of hashes, because the service finds no partition for a short one.
func (c *call) scope(container *store.Container) (store.Scope, *store.Error) {
	s := store.Scope{
		RangeID: c.opts.rangeID, MinEPK: c.opts.startEPK, MaxEPK: c.opts.endEPK, OnePartition: c.opts.hasEPK, Behind: c.opts.behind,
	}
	if !c.opts.hasPartitionKey {
		return s, nil
	}
	definition := container.Definition()
	if len(c.opts.partitionKey) < len(definition.Paths) && !definition.SystemKey {
		return s, fail(http.StatusBadRequest, store.SubstatusKeyMismatch, "The partition key supplied in x-ms-partitionkey header has "+
			"fewer components than defined in the the collection. Put the levels that are known in the WHERE clause, or send their range of hashes in "+
			"x-ms-start-epk and x-ms-end-epk.")
	}
	s.Key = store.Key(c.opts.partitionKey)
	return s, nil
}

// snapped carries a snapshot's position into the headers; the range is named only when there is one.
func snapped(container *store.Container, snapshot *store.Snapshot) *result {
	r := placed(container)
	r.ranges, r.lsn, r.sessionToken = len(snapshot.RangeIDs), snapshot.LSN, snapshot.SessionToken
	if len(snapshot.RangeIDs) == 1 {
		r.rangeID = snapshot.RangeIDs[0]
	}
	return r
}

package store

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// FeedStart says where a change feed begins: the zero value is the beginning.
type FeedStart struct {
	// Now starts behind the last change. It wins over the others.
	Now bool
	// AfterLSN continues behind a position (If-None-Match).
	AfterLSN int64
	// Since starts with the changes of that second (If-Modified-Since); ignored with AfterLSN.
	Since time.Time
}

// FeedRequest asks for a page of changes. The scope must lie within one physical partition.
type FeedRequest struct {
	Scope        Scope
	Start        FeedStart
	SessionToken string
	// MaxItems and MaxBytes bound the page; zero or less means 100 items and 4 MB. Changes of one batch stay together.
	MaxItems, MaxBytes int
}

// FeedPage is one page of changes. Nothing new is an empty page, for which the service answers 304.
type FeedPage struct {
	Documents [][]byte
	// ETag is the position to continue from, with its quotes.
	ETag string
	// LSN is the partition's.
	LSN                   int64
	Charge                float64
	RangeID, SessionToken string
}

const (
	defaultFeedItems = 100
	defaultFeedBytes = 4 << 20
)

// feed is a request that found its partition.
type feed struct {
	c       *Container
	area    area
	p       *partition
	visible visible
	maxItem int
	maxByte int
}

// openFeed needs topology.
func (c *Container) openFeed(r FeedRequest) (*feed, []sessionEntry, error) {
	if c.deleted {
		return nil, nil, parentNotFound()
	}
	session, err := parseSession(r.SessionToken)
	if err != nil {
		return nil, nil, err
	}
	a, partitions, err := c.resolve(r.Scope)
	if err != nil {
		return nil, nil, err
	}
	if len(partitions) != 1 {
		return nil, nil, badRequest("A change feed is read from one physical partition at a time, and this request covers %d: send x-ms-documentdb-partitionkeyrangeid or a full partition key.", len(partitions))
	}
	f := &feed{c: c, area: a, p: partitions[0], maxItem: r.MaxItems, maxByte: r.MaxBytes}
	f.visible = visible{ttl: c.definition.DefaultTTL, now: c.account.now()}
	if f.maxItem <= 0 {
		f.maxItem = defaultFeedItems
	}
	if f.maxByte <= 0 {
		f.maxByte = defaultFeedBytes
	}
	return f, session, nil
}

// LatestVersions reads the incremental feed: each item once, in its latest state, in the order of their LSNs, with _lsn
// added (400, 404/1002, 410/1002). Deletes and expired items do not show. Children of a split and the range that a merge
// makes go on with their parents' positions.
func (c *Container) LatestVersions(r FeedRequest) (FeedPage, error) {
	c.topology.RLock()
	defer c.topology.RUnlock()
	f, session, err := c.openFeed(r)
	if err != nil {
		return FeedPage{}, err
	}
	s, wait := f.p.view(f.visible.now, r.Scope.Behind)
	page := f.page(s.lsn)
	if err := f.p.checkSession(session, s.lsn); err != nil {
		return page, err
	}
	if err := await(wait); err != nil {
		return page, err
	}
	if r.Start.Now {
		return page, nil
	}
	position, bytes, full := r.Start.AfterLSN, 0, false
	f.changed(s, r.Start.AfterLSN, func(it *item) bool {
		if r.Start.AfterLSN == 0 && it.ts < r.Start.Since.Unix() {
			return true
		}
		// A batch's items share an LSN, which is all that a position can say, so a page never ends between them.
		if full = it.lsn != position && (len(page.Documents) >= f.maxItem || bytes >= f.maxByte); full {
			return false
		}
		position = it.lsn
		bytes += len(it.raw)
		page.Documents = append(page.Documents, withLSN(it))
		return true
	})
	if full {
		page.ETag = feedETag(position)
	}
	page.Charge = chargeFeed(bytes)
	return page, nil
}

// changed calls yield for the live items of the area that were written behind an LSN, in the order of their LSNs.
func (f *feed) changed(s *state, after int64, yield func(*item) bool) {
	if !f.area.logical {
		s.byLSN.Ascend(&item{lsn: after + 1}, func(it *item) bool {
			return !f.area.holds(it) || !f.visible.ok(it) || yield(it)
		})
		return
	}
	// All changes are read in their order first, as most may be this logical partition's. Once as many of others were passed over
	// as it has items, its own are gathered and put in order.
	own, _ := s.logical.Get(logicalSize{canon: f.area.canon})
	misses, done := 0, true
	var reached *item
	s.byLSN.Ascend(&item{lsn: after + 1}, func(it *item) bool {
		reached = it
		f.c.account.visited.Add(1)
		if f.area.holds(it) {
			return !f.visible.ok(it) || yield(it)
		}
		misses++
		done = misses <= own.items
		return done
	})
	if !done {
		f.gathered(s, reached, yield)
	}
}

// gathered calls yield with the live items of a logical partition that come behind another in the order of their LSNs.
func (f *feed) gathered(s *state, reached *item, yield func(*item) bool) {
	items := s.logicalItems(f.area.min, f.area.canon)
	f.c.account.visited.Add(int64(len(items)))
	order := func(a, b *item) int { return cmp.Or(cmp.Compare(a.lsn, b.lsn), cmp.Compare(a.ordinal, b.ordinal)) }
	slices.SortFunc(items, order)
	for _, it := range items {
		if order(it, reached) > 0 && f.visible.ok(it) && !yield(it) {
			return
		}
	}
}

// page is an empty page at an LSN; that is also the position to go on from when there is no more.
func (f *feed) page(lsn int64) FeedPage {
	return FeedPage{
		ETag: feedETag(lsn), LSN: lsn, Charge: chargeFeed(0),
		RangeID: f.p.name(), SessionToken: f.p.sessionToken(lsn),
	}
}

func feedETag(lsn int64) string { return `"` + strconv.FormatInt(lsn, 10) + `"` }

// ParseFeedETag reads the position out of an If-None-Match header, with or without quotes (400).
func ParseFeedETag(etag string) (lsn int64, err error) {
	text := etag
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	lsn, err = strconv.ParseInt(text, 10, 64)
	if err != nil || lsn < 0 || lsn == math.MaxInt64 {
		return 0, badRequest("The position of the change feed is invalid: send the etag of the last page, or * for now.")
	}
	return lsn, nil
}

// withLSN adds _lsn to a document.
func withLSN(it *item) []byte {
	raw := make([]byte, 0, len(it.raw)+28)
	raw = append(raw, it.raw[:len(it.raw)-1]...)
	raw = append(raw, `,"_lsn":`...)
	raw = strconv.AppendInt(raw, it.lsn, 10)
	return append(raw, '}')
}

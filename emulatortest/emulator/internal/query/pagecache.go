package query

import (
	"slices"
	"sync"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
)

// Bounds of what a [PageCache] keeps.
const (
	maxCachedResults = 8
	maxCachedPages   = 8 // of one result
	maxCachedBytes   = 128 << 20
)

// VersionedSource is a source that can tell whether it holds what another one held.
type VersionedSource interface {
	Source
	Unchanged(since Source) bool
}

// PageCache keeps the rows behind a page of a query with GROUP BY, aggregates, DISTINCT, a subquery of these or an order that no index
// has, which have to be computed all for each page. While nothing was written, the next page is taken from there, so that reading a result of n rows in pages costs as much
// as computing it once. Of a result that is too large the first part is kept, and the page behind that part computes the next one:
// how often that happens does not depend on the size of a page. What comes out is the same with the cache
// and without. Its methods may be called at the same time.
type PageCache struct {
	mu      sync.Mutex
	most    int             // bytes
	results []*cachedResult // the latest last
	bytes   int
}

// NewPageCache gives an empty cache that keeps at most so many bytes; 0 means 128 MB.
func NewPageCache(most int) *PageCache {
	if most <= 0 {
		most = maxCachedBytes
	}
	return &PageCache{most: most}
}

// cachedResult is what follows a page, and the pages that begin in it.
type cachedResult struct {
	source  VersionedSource
	rows    []laterRow
	rest    *position // of the first row that is not kept; nil when none is left out
	metrics Metrics   // of reading the source
	bytes   int
	pages   []cachedPage // the latest last
}

// cachedPage is the token that was given out for a page, and the row that it begins with.
type cachedPage struct {
	token string
	row   int
}

// laterRow is a row behind the page, and the place of the page that begins with it.
type laterRow struct {
	document []byte
	at       position
}

// laterRowBytes is what a row takes besides its text, with the place of its page.
const laterRowBytes = documentBytes + eval.SetBytes

// take gives the result in which a token's page lies and the row that it begins with, if that is known and the source has
// not changed.
func (c *PageCache) take(token string, source VersionedSource) (r *cachedResult, row int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.results {
		at := slices.IndexFunc(r.pages, func(p cachedPage) bool { return p.token == token })
		if at < 0 {
			continue
		}
		if !source.Unchanged(r.source) {
			return nil, 0
		}
		c.results = append(slices.Delete(c.results, i, i+1), r) // it is in use
		return r, r.pages[at].row
	}
	return nil, 0
}

// put keeps a result under the token of its first page.
func (c *PageCache) put(token string, r *cachedResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.pages = []cachedPage{{token: token}}
	c.results = append(c.results, r)
	c.bytes += r.bytes
	for len(c.results) > maxCachedResults || c.bytes > c.most {
		c.bytes -= c.results[0].bytes
		c.results = slices.Delete(c.results, 0, 1)
	}
}

// mark remembers that a page of a result begins at a row.
func (c *PageCache) mark(r *cachedResult, token string, row int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	page := cachedPage{token, row}
	if slices.Contains(r.pages, page) {
		return
	}
	if len(r.pages) >= maxCachedPages {
		r.pages = slices.Delete(r.pages, 0, 1)
	}
	r.pages = append(r.pages, page)
}

// cacheable reports whether the source and the size of the page allow the cache.
func (e *execution) cacheable() bool {
	return e.req.Pages != nil && e.req.version != nil && e.req.MaxItems > 0
}

// caches reports whether rows behind the page should be computed along with it. Many clients want no more than the first page,
// so that one reads only as far as it must.
func (e *execution) caches() bool {
	return e.cacheable() && (e.program.Folds() || e.from != nil && (e.program.Distinct() || e.derived != nil || e.sortsAhead()))
}

// sortsAhead reports whether a page has to sort what no index has in order: rows of a subquery, or by an expression.
func (e *execution) sortsAhead() bool { return len(e.program.Keys()) > 0 && !e.ordered }

// emitLater keeps a row behind the page. It returns false when rows behind it are of no use, or too many.
func (e *execution) emitLater(document []byte, at *position) bool {
	if !e.caches() {
		return false
	}
	later := *at
	later.skip, later.take = 0, e.take
	size := len(document) + laterRowBytes
	if e.laterBytes+size > e.req.Pages.most/2 || !e.req.meter.Spare(size) {
		e.rest = &later
		return false
	}
	e.laterBytes += size
	e.later = append(e.later, laterRow{document: document, at: later})
	if e.take > 0 {
		e.take--
	}
	return true
}

// cached gives the page from the cache, if the whole of it is there.
func (e *execution) cached() bool {
	if !e.cacheable() || e.from == nil {
		return false
	}
	r, from := e.req.Pages.take(e.req.Continuation, e.req.version)
	if r == nil {
		return false
	}
	e.metrics = r.metrics
	for i, row := range r.rows[from:] {
		if len(e.documents) >= e.req.MaxItems || len(e.documents) > 0 && e.bytes+len(row.document) > e.req.MaxBytes {
			at := row.at
			e.next, e.known, e.knownRow = &at, r, from+i
			return true
		}
		e.documents = append(e.documents, row.document)
		e.bytes += len(row.document)
		e.metrics.OutputDocuments++
		e.metrics.OutputBytes += len(row.document)
	}
	if r.rest != nil { // the page goes on behind what is kept
		e.documents, e.bytes, e.metrics = nil, 0, Metrics{}
		return false
	}
	return true
}

// cacheLater keeps what follows the page under its token.
func (e *execution) cacheLater(token string) {
	if e.known != nil {
		e.req.Pages.mark(e.known, token, e.knownRow)
		return
	}
	if len(e.later) == 0 {
		return
	}
	metrics := e.metrics
	metrics.OutputDocuments, metrics.OutputBytes = 0, 0
	e.req.Pages.put(token, &cachedResult{source: e.req.version, rows: e.later, rest: e.rest, metrics: metrics, bytes: e.laterBytes})
}

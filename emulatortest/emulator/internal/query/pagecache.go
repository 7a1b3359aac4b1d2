package query

import (
	"slices"
	"sync"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
)

// Bounds of what a [PageCache] keeps.
const (
	maxCachedResults = 8
	maxCachedBytes   = 16 << 20
)

// VersionedSource is a source that can tell whether it holds what another one held.
type VersionedSource interface {
	Source
	Unchanged(since Source) bool
}

// PageCache keeps the rows behind a page of a query with GROUP BY, aggregates or DISTINCT, which have to be computed all for
// each page. While nothing was written, the next page is taken from there, so that reading a result of n rows in pages costs as much
// as computing it once. What comes out is the same with it and without. Its methods may be called at the same time.
type PageCache struct {
	mu      sync.Mutex
	results []cachedResult // the latest last
	bytes   int
}

// NewPageCache gives an empty cache.
func NewPageCache() *PageCache { return &PageCache{} }

// cachedResult is what follows the page that gave out a token.
type cachedResult struct {
	token   string
	source  VersionedSource
	rows    []laterRow
	metrics Metrics // of reading the source
	bytes   int
}

// laterRow is a row behind the page, and the place of the page that begins with it.
type laterRow struct {
	document []byte
	at       position
}

// take gives what follows a token, if that is known and the source has not changed.
func (c *PageCache) take(token string, source VersionedSource) (cachedResult, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.results, func(r cachedResult) bool { return r.token == token })
	if i < 0 || !source.Unchanged(c.results[i].source) {
		return cachedResult{}, false
	}
	return c.results[i], true
}

func (c *PageCache) put(r cachedResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results = append(c.results, r)
	c.bytes += r.bytes
	for len(c.results) > maxCachedResults || c.bytes > maxCachedBytes {
		c.bytes -= c.results[0].bytes
		c.results = slices.Delete(c.results, 0, 1)
	}
}

// caches reports whether rows behind the page should be computed along with it.
func (e *execution) caches() bool {
	if e.req.Pages == nil || e.req.MaxItems <= 0 || e.uncached {
		return false
	}
	if _, ok := e.req.Source.(VersionedSource); !ok {
		return false
	}
	// The first page of DISTINCT reads only as far as it must: many clients want no more than that.
	return e.program.Folds() || e.program.Distinct() && e.from != nil
}

// emitLater keeps a row behind the page. It returns false when rows behind it are of no use.
func (e *execution) emitLater(document []byte, at *position) bool {
	if !e.caches() {
		return false
	}
	later := *at
	later.skip, later.take = 0, e.take
	e.laterBytes += len(document) + documentBytes + eval.SetBytes
	if e.laterBytes > maxCachedBytes/2 {
		e.later, e.uncached = nil, true
		return false
	}
	e.later = append(e.later, laterRow{document: document, at: later})
	if e.take > 0 {
		e.take--
	}
	return true
}

// cached gives the page from the cache.
func (e *execution) cached() bool {
	source, ok := e.req.Source.(VersionedSource)
	if !ok || e.req.Pages == nil || e.from == nil || e.req.MaxItems <= 0 {
		return false
	}
	r, ok := e.req.Pages.take(e.req.Continuation, source)
	if !ok {
		return false
	}
	e.metrics = r.metrics
	for i, row := range r.rows {
		if len(e.documents) >= e.req.MaxItems || len(e.documents) > 0 && e.bytes+len(row.document) > e.req.MaxBytes {
			at := row.at
			e.next, e.later, e.laterBytes = &at, r.rows[i:], r.bytes
			break
		}
		e.documents = append(e.documents, row.document)
		e.bytes += len(row.document)
		e.metrics.OutputDocuments++
		e.metrics.OutputBytes += len(row.document)
	}
	return true
}

// cacheLater keeps what follows the page under its token.
func (e *execution) cacheLater(token string) {
	source, ok := e.req.Source.(VersionedSource)
	if !ok || len(e.later) == 0 || e.req.Pages == nil {
		return
	}
	metrics := e.metrics
	metrics.OutputDocuments, metrics.OutputBytes = 0, 0
	e.req.Pages.put(cachedResult{token: token, source: source, rows: e.later, metrics: metrics, bytes: e.laterBytes})
}

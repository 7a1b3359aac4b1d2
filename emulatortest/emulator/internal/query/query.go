package query

import (
	"cmp"
	"context"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
)

// Bounds of a page.
const (
	DefaultItems = 100
	MaxBytes     = 4 << 20
)

// Request is one page of one query.
type Request struct {
	Query      *sql.Query
	Parameters map[string]value.Value // by name, with the @
	Source     Source                 // may be nil for a query without FROM
	// Identity is mixed into continuation tokens, so that they are refused elsewhere: the container's rid. It must be the
	// same for all partitions of a container, since tokens outlive splits.
	Identity     string
	Continuation string
	// MaxItems bounds the page's documents. 0 means [DefaultItems], a negative number means no bound.
	MaxItems int
	// MaxBytes bounds the sum of their sizes. A document that alone is larger is a page of its own. Defaults to [MaxBytes].
	MaxBytes int
	// MaxToken bounds the continuation token in bytes, as far as it can be shortened. 0 means no bound.
	MaxToken int
	// EndLate gives every page that is full a token, even if nothing follows, so that the last page may be empty. That is
	// how the gateway ends queries over several partitions. It is for filters, projections and joins only: with any other
	// clause the end of the result is known, and some clients take an empty page for the end of everything.
	EndLate bool
	// Resume, if not nil, leaves out what comes before a place in the result of an ORDER BY.
	Resume *ResumeFilter
	// Policy is the container's indexing policy; nil means that everything has an index, as in metadata feeds.
	Policy *Policy
	// Computed are the container's computed properties, from [ParseComputed].
	Computed Computed
	// Vectors is the container's vector policy.
	Vectors vector.Policy
	// Planar says that the container's geospatialConfig is Geometry; see [eval.Env].
	Planar bool
	// Now is the clock behind the date functions. Required.
	Now func() time.Time
	// Random is what RAND returns; see [eval.Env]. Defaults to a random number.
	Random func() float64
	Limits eval.Limits
	// Memory is shared with other requests; nil for no bound but that of the limits.
	Memory *eval.Memory
	// Pages, if not nil, keeps what follows a page, for requests to come.
	Pages *PageCache
	// meter counts for the whole request, derived tables included.
	meter *eval.Meter
	// version is the source, if it can tell whether it changed.
	version VersionedSource
}

// Page is a page of results.
type Page struct {
	Documents    [][]byte
	Continuation string // empty on the last page; printable ASCII
	ReverseScan  bool   // rows with equal ORDER BY keys come in falling rids
	Metrics      Metrics
}

// Run computes a page. The error is a [*sql.SyntaxError] or an [*eval.Error] for what the service answers with status 400,
// else that of the context.
func Run(ctx context.Context, req Request) (Page, error) {
	if req.meter == nil {
		req.meter = eval.NewMeter(ctx, req.Limits, req.Memory)
		defer req.meter.Close()
	}
	id := identity(&req)
	req.version, _ = req.Source.(VersionedSource)
	derived := derive(&req)
	e, err := newExecution(ctx, &req, id)
	if err != nil {
		return Page{}, err
	}
	e.derived = derived
	if !e.cached() {
		if derived != nil {
			if req.Source, err = derived.rows(ctx, &req); err != nil {
				return Page{}, err
			}
		}
		if err := cmp.Or(e.page(), req.meter.Err()); err != nil {
			return Page{}, err
		}
		if derived != nil {
			e.metrics.RetrievedDocuments, e.metrics.RetrievedBytes = derived.read.RetrievedDocuments, derived.read.RetrievedBytes
		}
	}
	result := Page{Documents: e.documents, Metrics: e.metrics, ReverseScan: e.reverse}
	result.Metrics.Elapsed = req.Now().Sub(e.started)
	if e.next != nil {
		result.Continuation = e.next.encode(e.identity, e.req.MaxToken)
		e.cacheLater(result.Continuation)
	}
	return result, nil
}

func (e *execution) env() eval.Env {
	return eval.Env{
		Parameters: e.req.Parameters, Now: e.req.Now, Started: e.started, Random: e.req.Random, Planar: e.req.Planar,
		Limits: e.req.Limits, Meter: e.req.meter,
	}
}

// execution is the state of one page.
type execution struct {
	ctx      context.Context // the call's: an execution lives no longer
	req      *Request
	started  time.Time
	program  *eval.Program
	run      *eval.Run
	filter   *itemFilter
	compute  func(value.Value) (value.Value, error) // adds the computed properties
	identity []byte
	from     *position // where the page begins; nil for the first one
	reverse  bool      // rows with equal ORDER BY keys go in falling rids
	endLate  bool
	derived  *derivation // what the query reads from, when that is a subquery of its own
	ordered  bool        // an index could serve ORDER BY
	inOrder  bool        // items come in the order of ORDER BY

	skip, take int // what is left of OFFSET and of TOP or LIMIT; take is negative without a bound
	documents  [][]byte
	bytes      int
	metrics    Metrics
	next       *position  // where the next page begins; nil when nothing is left
	later      []laterRow // rows behind the page, for the cache
	laterBytes int
	rest       *position     // the row behind those, when they are too many
	known      *cachedResult // the next page begins at its row knownRow
	knownRow   int
	beyond     *position // a row that was left out of the sort, as were all behind it; nil when none was
}

func newExecution(ctx context.Context, req *Request, id []byte) (*execution, error) {
	if req.MaxItems == 0 {
		req.MaxItems = DefaultItems
	}
	if req.MaxBytes <= 0 {
		req.MaxBytes = MaxBytes
	}
	program, err := eval.CompileFor(req.Query, eval.Schema{Vectors: req.Vectors, Parameters: req.Parameters})
	if err != nil {
		return nil, err
	}
	if err := program.CheckUserDefined(ctx); err != nil {
		return nil, err
	}
	if err := req.Policy.checkOrderBy(req.Query); err != nil {
		return nil, err
	}
	e := &execution{ctx: ctx, req: req, started: req.Now(), program: program, take: -1, identity: id}
	if err := e.counts(); err != nil {
		return nil, err
	}
	e.reverse = req.Policy.scansReverse(req.Query, program.Keys())
	if _, indexed := req.Source.(IndexedSource); indexed && len(program.Keys()) > 0 {
		e.ordered = PlanAccess(req.Query, req.Parameters, req.Policy, req.Computed).order != nil
	}
	e.endLate = req.EndLate && !program.Folds() && !program.Distinct() && len(program.Keys()) == 0 && e.take < 0
	if err := req.Resume.check(req.Query); err != nil {
		return nil, err
	}
	if req.Continuation != "" {
		if e.from, err = decodePosition(req.Continuation, e.identity); err != nil {
			return nil, err
		}
		e.skip, e.take = e.from.skip, e.from.take
	}
	env := e.env()
	e.run = program.NewRun(ctx, env)
	e.compute = req.Computed.adder(ctx, env)
	if e.filter, err = newItemFilter(ctx, req.Query, req.Policy, env); err != nil {
		return nil, err
	}
	return e, nil
}

// counts resolves TOP, OFFSET and LIMIT.
func (e *execution) counts() error {
	for _, c := range []struct {
		from *sql.Count
		to   *int
	}{{e.req.Query.Select.Top, &e.take}, {e.req.Query.Offset, &e.skip}, {e.req.Query.Limit, &e.take}} {
		if c.from == nil {
			continue
		}
		n, err := c.from.Resolve(e.req.Parameters)
		if err != nil {
			return err
		}
		*c.to = n
	}
	return nil
}

func (e *execution) page() error {
	switch {
	case e.take == 0:
		return nil
	case e.program.Folds():
		if done, err := e.counted(); done || err != nil {
			return err
		}
		return e.fold()
	case len(e.program.Keys()) > 0:
		return e.sorted()
	}
	return e.stream()
}

// items reads the source and counts what an index would have had to load. It stops when yield returns false.
func (e *execution) items(afterRID string, yield func(Item) bool) error {
	if !e.program.Scans() {
		if e.from == nil {
			yield(Item{})
		}
		return e.run.Err()
	}
	meter, items := e.req.meter, e.read(afterRID)
	for item := range items {
		meter.Drop(0)
		var err error
		if item.Value, err = e.compute(item.Value); err != nil {
			return err
		}
		pass, err := e.filter.pass(item.Value)
		if err != nil {
			return err
		}
		if !pass {
			continue
		}
		e.metrics.RetrievedDocuments++
		e.metrics.RetrievedBytes += len(item.Raw)
		if !yield(item) || meter.Err() != nil {
			break
		}
	}
	return cmp.Or(e.run.Err(), meter.Err())
}

// documentBytes is what a document takes besides its text.
const documentBytes = 64

// emit adds a row to the page. It returns false when the page ends before the row, which is at the given position.
func (e *execution) emit(document []byte, at func() *position) bool {
	if e.skip > 0 {
		e.skip--
		return true
	}
	if len(e.later) > 0 {
		return e.emitLater(document, at())
	}
	full := e.req.MaxItems > 0 && len(e.documents) >= e.req.MaxItems
	if full || len(e.documents) > 0 && e.bytes+len(document) > e.req.MaxBytes {
		next := *at()
		next.skip, next.take = 0, e.take
		e.next = &next
		return e.emitLater(document, &next)
	}
	if !e.req.meter.Keep(len(document) + documentBytes) {
		return false
	}
	e.documents = append(e.documents, document)
	e.bytes += len(document)
	e.metrics.OutputDocuments++
	e.metrics.OutputBytes += len(document)
	if e.take > 0 {
		e.take--
	}
	return true
}

// done reports whether nothing can follow what was emitted last, or whether what follows is left for the next page.
func (e *execution) done(after func() *position) bool {
	if e.take == 0 {
		return true
	}
	if e.endLate && e.req.MaxItems > 0 && len(e.documents) >= e.req.MaxItems {
		e.next = after()
		e.next.skip, e.next.take = e.skip, e.take
		return true
	}
	return false
}

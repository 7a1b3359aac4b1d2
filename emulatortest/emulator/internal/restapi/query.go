package restapi

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Query items: POST /dbs/{db}/colls/{c}/docs with application/query+json
//
// Supported: any query of the language on one logical partition (partition key header, or a WHERE clause that fixes the
// whole key), on a physical partition or on a range of hashes; filters, projections and joins across partitions when
// x-ms-documentdb-query-enablecrosspartition is true, else 400; 400/1004 with the query plan for what the gateway leaves to
// clients (ORDER BY, TOP, OFFSET LIMIT, DISTINCT, GROUP BY and aggregates across partitions). Pages of x-ms-max-item-count or 100 items
// and at most 4 MB; metrics always, index metrics on request.
// Differs from the service: a page across partitions is in the order of rids, where the service goes from partition to
// partition and may send empty pages; a full last page of a filter, projection or join is followed by an empty one, as in the service.

func (c *call) queryItems() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	body, e := c.parseQueryBody()
	if e != nil {
		return placed(container), e
	}
	if err := container.Admit(); err != nil {
		return nil, refused(err)
	}
	target, e := c.aim(container, body)
	if e != nil {
		r := placed(container)
		r.fanOut = e.Substatus == substatusNotServable
		return r, e
	}
	properties := container.Definition().Properties
	policy := query.ParsePolicy(properties.Get("indexingPolicy"))
	computed, err := query.ParseComputed(properties.Get("computedProperties"))
	if err != nil {
		return placed(container), queryRefusal(err)
	}
	target.scope.Indexes = query.PlanAccess(body.query, body.parameters, policy, computed).Orders()
	snapshot, err := container.Snapshot(target.scope, c.opts.sessionToken)
	if err != nil {
		return placed(container), refused(err)
	}
	page, err := query.Run(c.withFunctions(container), query.Request{
		Query:        body.query,
		Parameters:   body.parameters,
		Source:       snapshotSource{snapshot},
		Identity:     container.Resource().RID,
		Continuation: c.opts.continuation,
		MaxItems:     c.opts.maxItems,
		MaxToken:     c.opts.tokenLimitKB * 1024,
		EndLate:      target.fanOut,
		Resume:       body.resume,
		Policy:       policy,
		Computed:     computed,
		Vectors:      vector.ParsePolicy(properties.Get("vectorEmbeddingPolicy")),
		Planar:       isPlanar(properties),
		Now:          c.h.cfg.Clock,
		Random:       c.h.cfg.Random.float64,
		Pages:        c.h.pages,
		Memory:       c.h.queries,
	})
	r := snapped(container, snapshot)
	r.fanOut = target.fanOut
	if err != nil {
		r.charge = store.RequestChargeQuery(r.ranges, 0, 0)
		return r, queryRefusal(err)
	}
	if e := c.checkTokenLimit(page.Continuation); e != nil {
		return r, e
	}
	r.charge = store.RequestChargeQuery(r.ranges, page.Metrics.RetrievedDocuments, page.Metrics.RetrievedBytes)
	container.Spend(r.charge)
	c.fillPage(r, "Documents", r.containerRID, &page)
	return r, c.fillIndexMetrics(r, body, policy)
}

// fillPage writes a page of results into the answer.
func (c *call) fillPage(r *result, name, rid string, page *query.Page) {
	r.status, r.isFeed, r.itemCount, r.loaded = http.StatusOK, true, len(page.Documents), page.Metrics.RetrievedDocuments
	r.continuation = page.Continuation
	r.body = feedBody(rid, name, page.Documents)
	r.set("x-ms-documentdb-query-metrics", page.Metrics.Header())
	r.set("x-ms-cosmos-query-execution-info", fmt.Sprintf(`{"reverseRidEnabled":false,"reverseIndexScan":%t}`, page.ReverseScan))
}

// fillIndexMetrics tells which indexes the query would use, in the form that was asked for and only when asked.
func (c *call) fillIndexMetrics(r *result, body *queryBody, policy *query.Policy) *store.Error {
	if !c.opts.indexMetrics && !c.opts.indexMetricsV2 {
		return nil
	}
	used := query.Utilize(body.query, policy)
	write := used.HeaderV1
	if c.opts.indexMetricsV2 {
		write = used.HeaderV2
	}
	header, err := write()
	if err != nil {
		return queryRefusal(err)
	}
	r.set("x-ms-cosmos-index-utilization", header)
	return nil
}

// checkTokenLimit keeps the continuation token within what the client can carry.
func (c *call) checkTokenLimit(token string) *store.Error {
	if c.opts.tokenLimitKB > 0 && len(token) > c.opts.tokenLimitKB*1024 {
		return badRequest("The continuation token limit specified is not large enough: raise x-ms-documentdb-responsecontinuationtokenlimitinkb.")
	}
	return nil
}

// aim is what a query reads.
type aim struct {
	scope  store.Scope
	fanOut bool // more than one logical partition
}

// aim finds what a query reads, and refuses what the gateway leaves to clients. Headers decide first; without them it is the
// WHERE clause, which may fix the partition key or a part of it.
func (c *call) aim(container *store.Container, body *queryBody) (aim, *store.Error) {
	scope, e := c.scope(container)
	if e != nil {
		return aim{}, e
	}
	if body.query.Rank != nil { // clients run it, whatever it reads
		return aim{}, c.notServable(container, body, []string{"ORDER BY RANK"})
	}
	if c.opts.hasPartitionKey {
		return aim{scope: scope}, nil
	}
	keys := plan.Keys{Any: true}
	if definition := container.Definition(); !definition.SystemKey {
		keys = plan.KeysOf(body.query, body.parameters, planContainer(definition))
	}
	levels := len(container.Definition().Paths)
	single := !keys.Any && len(keys.Prefixes) == 1 && len(keys.Prefixes[0]) == levels
	if scope.RangeID != "" || c.opts.hasEPK {
		if !c.opts.hasEPK {
			scope.MinEPK, scope.MaxEPK = bounds(keys, container.Definition().Scheme, levels)
		}
		return aim{scope: scope, fanOut: !single}, nil
	}
	switch {
	case single:
		scope.Key = keys.Prefixes[0]
		return aim{scope: scope}, nil
	case !keys.Any && len(keys.Prefixes) == 0: // contradicts itself: nothing is concerned, whatever is read
		return aim{scope: scope}, nil
	case len(keys.Prefixes) == 1:
		scope.Key = keys.Prefixes[0]
	}
	if !c.opts.crossPartition {
		return aim{}, badRequest("Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition " +
			"to true, specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.")
	}
	if clauses := plan.Clauses(body.query); len(clauses) > 0 {
		return aim{}, c.notServable(container, body, clauses)
	}
	return aim{scope: scope, fanOut: true}, nil
}

// bounds are the hashes between which a query's keys lie, so that a query for one key in a large physical partition doesn't
// pay for the rest. A key that another partition owns must give an empty result here and not 410, which is why the key
// itself is not the scope.
func bounds(keys plan.Keys, scheme epk.Scheme, levels int) (lowest, highest string) {
	if keys.Any || len(keys.Prefixes) == 0 {
		return "", ""
	}
	ranges := keys.Ranges(scheme, levels)
	last := ranges[len(ranges)-1]
	if last.MaxInclusive {
		return ranges[0].Min, last.Max + epk.Max // all that begins with the last hash
	}
	return ranges[0].Min, last.Max
}

// notServable is the gateway's answer to a query whose parts a client has to put together: it carries the plan for that.
func (c *call) notServable(container *store.Container, body *queryBody, clauses []string) *store.Error {
	p, e := c.planOf(container, body)
	if e != nil {
		return e
	}
	refusal := fail(http.StatusBadRequest, substatusNotServable, "The provided cross partition query can not be directly served by the gateway. "+
		"This is a first chance (internal) exception that all newer clients will know how to handle gracefully. This exception is traced, but "+
		"unless you see it bubble up as an exception (which only happens on older SDK clients), then you can safely ignore this message. "+
		"Across partitions it leaves to the client: "+strings.Join(clauses, ", ")+".")
	refusal.PlanJSON = encodeJSON(p)
	return refusal
}

// metadataItems is the page size of metadata feeds when the client names none: all.
const metadataItems = math.MaxInt32

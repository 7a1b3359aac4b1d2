package plan

import (
	"encoding/json"
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
)

// Plan is what the service answers to a plan request. It encodes to the service's JSON.
type Plan struct {
	Version     int       `json:"partitionedQueryExecutionInfoVersion"` // always 2
	QueryInfo   QueryInfo `json:"queryInfo"`
	QueryRanges []Range   `json:"queryRanges"` // the effective partition keys concerned
	// HybridSearch stands in the place of QueryInfo when the query is one of ORDER BY RANK.
	HybridSearch *HybridSearchQueryInfo `json:"hybridSearchQueryInfo,omitempty"`
}

// MarshalJSON leaves out what the other kind of plan has.
func (p Plan) MarshalJSON() ([]byte, error) {
	type all Plan
	if p.HybridSearch == nil {
		return json.Marshal(all(p))
	}
	return json.Marshal(struct {
		Version      int                    `json:"partitionedQueryExecutionInfoVersion"`
		HybridSearch *HybridSearchQueryInfo `json:"hybridSearchQueryInfo"`
		QueryRanges  []Range                `json:"queryRanges"`
	}{p.Version, p.HybridSearch, p.QueryRanges})
}

// Options is what a plan depends on besides the query and the container's key.
type Options struct {
	// Vectors is the container's vector policy.
	Vectors vector.Policy
	// SkipOrderByRewrite says that the client can fuse components whose rows bring no sort keys.
	SkipOrderByRewrite bool
}

// The kinds of [QueryInfo.DistinctType].
const (
	DistinctNone      = "None"
	DistinctOrdered   = "Ordered" // equal rows follow each other, so that comparing neighbours is enough
	DistinctUnordered = "Unordered"
)

// The directions of [QueryInfo.OrderBy].
const (
	Ascending  = "Ascending"
	Descending = "Descending"
)

// QueryInfo tells a client how to merge the partitions' pages: sort, group, drop duplicates, cut off, in this order.
type QueryInfo struct {
	DistinctType       string   `json:"distinctType"`
	Top                *int     `json:"top"`
	Offset             *int     `json:"offset"`
	Limit              *int     `json:"limit"`
	OrderBy            []string `json:"orderBy"` // directions, one for each of OrderByExpressions
	OrderByExpressions []string `json:"orderByExpressions"`
	GroupByExpressions []string `json:"groupByExpressions"`
	GroupByAliases     []string `json:"groupByAliases"` // the property names of a grouped SELECT list
	// Aggregates has the one kind of a SELECT VALUE; the kinds of a SELECT list stand in GroupByAliasToAggregateType,
	// where nil says that a property is the same for all rows of a group.
	Aggregates                  []string           `json:"aggregates"`
	GroupByAliasToAggregateType map[string]*string `json:"groupByAliasToAggregateType"`
	RewrittenQuery              string             `json:"rewrittenQuery"` // what runs in each partition; empty for the query itself
	HasSelectValue              bool               `json:"hasSelectValue"`
	HasNonStreamingOrderBy      bool               `json:"hasNonStreamingOrderBy"`
	DCountInfo                  *DCountInfo        `json:"dCountInfo"`
}

// DCountInfo says that the client counts the distinct rows instead of returning them.
type DCountInfo struct {
	Alias string `json:"dCountAlias"` // the property that takes the count; empty for SELECT VALUE
}

// Error is a query that can run within one partition and has no plan across several. The service answers with status 400.
type Error struct {
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Build plans a query over a container. Parameters are named with their @. The error is a [*sql.SyntaxError] for a count
// that is none, or an [*Error].
func Build(q *sql.Query, parameters map[string]value.Value, c Container) (*Plan, error) {
	return BuildWith(q, parameters, c, Options{})
}

// BuildWith is like [Build] for a container with policies and a client with more features.
func BuildWith(q *sql.Query, parameters map[string]value.Value, c Container, options Options) (*Plan, error) {
	info := QueryInfo{
		DistinctType:                DistinctNone,
		OrderBy:                     []string{},
		OrderByExpressions:          []string{},
		GroupByExpressions:          []string{},
		GroupByAliases:              []string{},
		Aggregates:                  []string{},
		GroupByAliasToAggregateType: map[string]*string{},
		HasSelectValue:              q.Select.Kind == sql.SelectValue,
	}
	r := rewriter{q: q, info: &info, parameters: parameters, vectors: options.Vectors}
	if err := r.counts(parameters); err != nil {
		return nil, err
	}
	var hybrid *HybridSearchQueryInfo
	var err error
	if q.Rank != nil {
		hybrid, err = r.hybrid(options.SkipOrderByRewrite)
	} else {
		err = r.rewrite()
	}
	if err != nil {
		return nil, err
	}
	ranges := KeysOf(q, parameters, c).Ranges(c.Scheme, len(c.Paths))
	if q.From == nil {
		ranges = []Range{least} // a query over no items has its one row once, whatever the number of partitions
	}
	return &Plan{Version: 2, QueryInfo: info, QueryRanges: ranges, HybridSearch: hybrid}, nil
}

// counts resolves TOP, OFFSET and LIMIT.
func (r *rewriter) counts(parameters map[string]value.Value) error {
	for _, c := range []struct {
		count  *sql.Count
		result **int
	}{{r.q.Select.Top, &r.info.Top}, {r.q.Offset, &r.info.Offset}, {r.q.Limit, &r.info.Limit}} {
		if c.count == nil {
			continue
		}
		n, err := c.count.Resolve(parameters)
		if err != nil {
			return err
		}
		*c.result = &n
	}
	return nil
}

// page returns the OFFSET and LIMIT of a partition: each may hold all of the rows that the client skips.
func (r *rewriter) page() (offset, limit *sql.Count) {
	if r.info.Limit == nil {
		return nil, nil
	}
	last := min(*r.info.Offset+*r.info.Limit, math.MaxInt32)
	return &sql.Count{Clause: sql.Offset}, &sql.Count{Clause: sql.Limit, Constant: int32(last)}
}

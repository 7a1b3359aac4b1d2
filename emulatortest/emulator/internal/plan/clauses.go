package plan

import (
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

// Clauses names what the gateway doesn't answer by itself across partitions: a non-empty list means that the service
// answers 400 with substatus 1004, and leaves the work to the client. A query that reads no items has none.
func Clauses(q *sql.Query) []string {
	if q.From == nil {
		return nil
	}
	var found []string
	for _, clause := range []struct {
		present bool
		name    string
	}{
		{len(q.OrderBy) > 0, "ORDER BY"},
		{q.Rank != nil, "ORDER BY RANK"},
		{q.Select.Top != nil, "TOP"},
		{q.Offset != nil, "OFFSET LIMIT"},
		{q.Select.Distinct, "DISTINCT"},
		{len(q.GroupBy) > 0, "GROUP BY"},
		{len(q.GroupBy) == 0 && q.Aggregates(), "aggregate functions"},
		{foldingSource(q) != nil, "a FROM subquery that folds its rows"},
	} {
		if clause.present {
			found = append(found, clause.name)
		}
	}
	return found
}

// foldingSource returns the subquery over the container in FROM whose rows aren't those of single items.
func foldingSource(q *sql.Query) *sql.Query {
	for q != nil && q.From != nil {
		inner := (*sql.Query)(nil)
		switch s := q.From.Sources[0].(type) {
		case *sql.SubquerySource:
			inner = s.Query
		case *sql.IteratorSource:
			inner = s.Query
		case *sql.PathSource:
		}
		if inner != nil && (inner.Select.Distinct || inner.Aggregates()) {
			return inner
		}
		q = inner
	}
	return nil
}

// The features that a client names in its plan request when it can merge what they need.
const (
	FeatureAggregate           = "Aggregate"
	FeatureCompositeAggregate  = "CompositeAggregate"
	FeatureCountIf             = "CountIf"
	FeatureDCount              = "DCount"
	FeatureDistinct            = "Distinct"
	FeatureGroupBy             = "GroupBy"
	FeatureHybridSearch        = "HybridSearch"
	FeatureListAndSetAggregate = "ListAndSetAggregate"
	FeatureMultipleAggregates  = "MultipleAggregates"
	FeatureMultipleOrderBy     = "MultipleOrderBy"
	FeatureNonStreamingOrderBy = "NonStreamingOrderBy"
	FeatureNonValueAggregate   = "NonValueAggregate"
	FeatureOffsetAndLimit      = "OffsetAndLimit"
	FeatureOrderBy             = "OrderBy"
	FeatureTop                 = "Top"
	FeatureWeightedRankFusion  = "WeightedRankFusion"

	// FeatureSkipOrderByRewrite is one that no plan needs: it allows plans of ORDER BY RANK another form.
	FeatureSkipOrderByRewrite = "HybridSearchSkipOrderByRewrite"
)

// Features names what a client must be able to do to follow the plan, in no particular order.
func (i *QueryInfo) Features() []string {
	kinds := append([]string(nil), i.Aggregates...)
	for _, kind := range i.GroupByAliasToAggregateType {
		if kind != nil {
			kinds = append(kinds, *kind)
		}
	}
	var needed []string
	for _, feature := range []struct {
		needed bool
		name   string
	}{
		{i.DistinctType != DistinctNone, FeatureDistinct},
		{i.Top != nil, FeatureTop},
		{i.Limit != nil, FeatureOffsetAndLimit},
		{len(i.OrderBy) > 0, FeatureOrderBy},
		{len(i.OrderBy) > 1, FeatureMultipleOrderBy},
		{i.HasNonStreamingOrderBy, FeatureNonStreamingOrderBy},
		{len(i.GroupByExpressions) > 0, FeatureGroupBy},
		{len(kinds) > 0, FeatureAggregate},
		{len(kinds) > 1, FeatureMultipleAggregates},
		{len(kinds) > 0 && !i.HasSelectValue, FeatureNonValueAggregate},
		{slices.Contains(kinds, "Average"), FeatureCompositeAggregate},
		{slices.Contains(kinds, "CountIf"), FeatureCountIf},
		{slices.Contains(kinds, "MakeList") || slices.Contains(kinds, "MakeSet"), FeatureListAndSetAggregate},
		{i.DCountInfo != nil, FeatureDCount},
	} {
		if feature.needed {
			needed = append(needed, feature.name)
		}
	}
	return needed
}

// Features names what a client must be able to do to follow the plan, in no particular order.
func (p *Plan) Features() []string {
	if p.HybridSearch == nil {
		return p.QueryInfo.Features()
	}
	needed := []string{FeatureHybridSearch}
	if len(p.HybridSearch.ComponentWeights) > 0 {
		needed = append(needed, FeatureWeightedRankFusion)
	}
	return needed
}

// Missing returns those features that the plan needs and the client didn't name.
func (p *Plan) Missing(supported []string) []string {
	var missing []string
	for _, name := range p.Features() {
		if !slices.Contains(supported, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

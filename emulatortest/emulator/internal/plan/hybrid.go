package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// HybridSearchQueryInfo tells a client how to run ORDER BY RANK: it sums up the statistics of all partitions, writes them
// into the query of each component, runs those like queries with ORDER BY, and fuses the ranks of their rows.
type HybridSearchQueryInfo struct {
	GlobalStatisticsQuery    string      `json:"globalStatisticsQuery"`
	ComponentQueryInfos      []QueryInfo `json:"componentQueryInfos"`
	ComponentsWithoutPayload []QueryInfo `json:"componentWithoutPayloadQueryInfos"` // always empty: rows bring their payload
	ProjectionQueryInfo      *QueryInfo  `json:"projectionQueryInfo"`               // always nil, for the same reason
	// ComponentWeights are never negative: the component of a negative weight ranks the other way round.
	ComponentWeights         []float64 `json:"componentWeights"`
	Skip                     *int      `json:"skip"`
	Take                     *int      `json:"take"`
	RequiresGlobalStatistics bool      `json:"requiresGlobalStatistics"`
}

// Where a client writes the statistics; the last two are numbered by the full-text components.
const (
	documentCountPlace = "{documentdb-formattablehybridsearchquery-totaldocumentcount}"
	wordCountPlace     = "{documentdb-formattablehybridsearchquery-totalwordcount-%d}"
	hitCountsPlace     = "{documentdb-formattablehybridsearchquery-hitcountsarray-%d}"
)

// leastPool is how many rows of a component take part in the fusion at least; it is twice the rows asked for beyond that.
const leastPool = 120

// What an item without a score counts as.
const (
	noText   = -1
	noVector = 1.79769e+308
)

// component is one score of ORDER BY RANK in the form in which partitions compute it.
type component struct {
	score     *sql.Call
	ascending bool // the best rows come first in ascending order
	explicit  bool // the direction is written down, as it isn't the score's own
	missing   float64
}

// scored is the component's score with a number for items that have none.
func (c component) scored() sql.Expr {
	return &sql.Binary{Op: sql.Coalesce, Left: c.score, Right: number(c.missing)}
}

func number(f float64) sql.Expr { return &sql.Literal{Value: value.FromNumber(f)} }

// hybrid plans ORDER BY RANK. With skipRewrite the client ranks all rows by their component scores alone, so that the
// components' queries need no sort keys beside them.
func (r *rewriter) hybrid(skipRewrite bool) (*HybridSearchQueryInfo, error) {
	q := r.q
	if q.From == nil || q.From.Sources[0].Binding() == "" {
		return nil, &Error{Message: "ORDER BY RANK needs an alias for the first source of the FROM clause."}
	}
	calls, weightsOf := sql.RankComponents(q.Rank)
	info := &HybridSearchQueryInfo{
		ComponentsWithoutPayload: []QueryInfo{}, ComponentWeights: []float64{}, Skip: r.info.Offset, Take: r.info.Top,
	}
	if q.Limit != nil {
		info.Take = r.info.Limit
	}
	weights, err := r.weights(weightsOf, len(calls))
	if err != nil {
		return nil, err
	}
	for _, w := range weights {
		info.ComponentWeights = append(info.ComponentWeights, math.Abs(w))
	}
	var components []component
	statistics := &sql.ArrayExpr{}
	for i, call := range calls {
		negative := i < len(weights) && weights[i] < 0
		if call.Name == sql.VectorDistance {
			components = append(components, r.vectorComponent(call, negative))
			continue
		}
		keywords := r.keywords(call)
		if slices.ContainsFunc(keywords, r.isObject) {
			return nil, &Error{Message: sql.FuzzyRefusal}
		}
		components = append(components, textComponent(call.Args[0], keywords, len(statistics.Elements), negative))
		statistics.Elements = append(statistics.Elements, textStatistics(call.Args[0], keywords))
	}
	if err := r.bounded(components); err != nil {
		return nil, err
	}
	info.RequiresGlobalStatistics = len(statistics.Elements) > 0
	info.GlobalStatisticsQuery = r.statisticsQuery(statistics)
	for _, c := range components {
		info.ComponentQueryInfos = append(info.ComponentQueryInfos, r.componentQuery(c, components, skipRewrite))
	}
	return info, nil
}

// maxPlan bounds the queries of all components together, in bytes.
const maxPlan = 16 << 20

// bounded refuses what would make a plan of gigabytes: the query of each component names the scores of all.
func (r *rewriter) bounded(components []component) error {
	size := len(r.q.String())
	for _, c := range components {
		if size += len(c.score.String()); size > maxPlan/len(components) {
			return &Error{Message: fmt.Sprintf("The ORDER BY RANK clause of %d scores makes a plan that is too large.", len(components))}
		}
	}
	return nil
}

// weights reads the last argument of RRF.
func (r *rewriter) weights(e sql.Expr, n int) ([]float64, error) {
	if e == nil {
		return nil, nil
	}
	list := r.constants(e)
	weights := make([]float64, len(list))
	ok := len(list) == n
	for i, v := range list {
		var isNumber bool
		weights[i], isNumber = v.Number()
		ok = ok && isNumber
	}
	if !ok {
		return nil, &Error{Message: fmt.Sprintf("The weights of RRF must be an array of numbers, one for each of its %d scores.", n)}
	}
	return weights, nil
}

// constants returns the elements of a list that is written down or a parameter; what isn't constant is undefined.
func (r *rewriter) constants(e sql.Expr) []value.Value {
	switch e := e.(type) {
	case *sql.Parameter:
		list, _ := r.parameters[e.Name].Array()
		return list
	case *sql.ArrayExpr:
		list := make([]value.Value, len(e.Elements))
		for i, element := range e.Elements {
			list[i] = r.constant(element)
		}
		return list
	}
	return nil
}

func (r *rewriter) constant(e sql.Expr) value.Value {
	switch e := e.(type) {
	case *sql.Literal:
		return e.Value
	case *sql.Parameter:
		return r.parameters[e.Name]
	case *sql.Unary:
		if f, ok := r.constant(e.Operand).Number(); ok && e.Op == sql.Negate {
			return value.FromNumber(-f)
		}
	}
	return value.Value{}
}

// keywords are the arguments of FullTextScore behind the path; a list among them stands for its elements.
func (r *rewriter) keywords(call *sql.Call) []sql.Expr {
	var list []sql.Expr
	for _, arg := range call.Args[1:] {
		switch e := arg.(type) {
		case *sql.ArrayExpr:
			list = append(list, e.Elements...)
			continue
		case *sql.Parameter:
			if elements, isList := r.parameters[e.Name].Array(); isList {
				for _, v := range elements {
					list = append(list, &sql.Literal{Value: v})
				}
				continue
			}
		}
		list = append(list, arg)
	}
	return list
}

// isObject reports whether a keyword is a parameter, or a part of one, that is an object.
func (r *rewriter) isObject(keyword sql.Expr) bool {
	switch e := keyword.(type) {
	case *sql.Parameter:
		return r.parameters[e.Name].Kind() == value.Object
	case *sql.Literal:
		return e.Value.Kind() == value.Object
	}
	return false
}

func (r *rewriter) vectorComponent(call *sql.Call, negative bool) component {
	ascending := r.vectors.Of(call, r.q.From.Sources[0].Binding(), r.parameters).Ascending() != negative
	c := component{
		score: &sql.Call{Name: sql.PartialVectorScore, Args: call.Args}, ascending: ascending, explicit: negative,
		missing: -noVector,
	}
	if ascending {
		c.missing = noVector
	}
	return c
}

func textComponent(text sql.Expr, keywords []sql.Expr, n int, negative bool) component {
	place := func(name string) sql.Expr { return &sql.Parameter{Name: name} }
	c := component{
		score: &sql.Call{Name: sql.PartialFullTextScore, Args: []sql.Expr{
			text, &sql.ArrayExpr{Elements: keywords}, place(documentCountPlace), place(fmt.Sprintf(wordCountPlace, n)), place(fmt.Sprintf(hitCountsPlace, n)),
		}},
		ascending: negative, explicit: true, missing: noText,
	}
	if negative {
		c.missing = noVector
	}
	return c
}

func textStatistics(text sql.Expr, keywords []sql.Expr) sql.Expr {
	hits := &sql.ArrayExpr{}
	for _, keyword := range keywords {
		found := &sql.Call{Name: "FullTextContains", Args: []sql.Expr{text, keyword}}
		hits.Elements = append(hits.Elements, &sql.Call{Name: "COUNTIF", Args: []sql.Expr{found}})
	}
	words := &sql.Call{Name: "SUM", Args: []sql.Expr{&sql.Call{Name: sql.FullTextWordCount, Args: []sql.Expr{text}}}}
	return object(member("totalWordCount", words), member("hitCounts", hits))
}

func (r *rewriter) statisticsQuery(statistics *sql.ArrayExpr) string {
	q := sql.Query{
		Select: sql.SelectSpec{Kind: sql.SelectList, Items: []sql.SelectItem{
			{Expr: &sql.Call{Name: "COUNT", Args: []sql.Expr{number(1)}}, Alias: "documentCount"},
			{Expr: statistics, Alias: "fullTextStatistics"},
		}},
		From: &sql.From{Sources: r.q.From.Sources[:1]},
	}
	return q.String()
}

// componentQuery ranks by one component and brings the scores of all, for the fusion.
func (r *rewriter) componentQuery(c component, all []component, skipRewrite bool) QueryInfo {
	q := *r.q
	direction := Descending
	if c.ascending {
		direction = Ascending
	}
	order := sql.OrderItem{Expr: c.score, Descending: c.explicit && !c.ascending, Ascending: c.explicit && c.ascending}
	q.Rank, q.OrderBy, q.Offset, q.Limit = nil, []sql.OrderItem{order}, nil, nil
	pool := r.pool()
	q.Select = sql.SelectSpec{Kind: sql.SelectList, Top: pool}
	info := QueryInfo{
		DistinctType: DistinctNone, OrderBy: []string{}, OrderByExpressions: []string{}, GroupByExpressions: []string{},
		GroupByAliases: []string{}, Aggregates: []string{}, GroupByAliasToAggregateType: map[string]*string{},
	}
	scores := &sql.ArrayExpr{}
	if skipRewrite && len(all) > 1 {
		for _, other := range all {
			e := other.scored()
			if other.ascending { // the client takes all scores for descending
				e = &sql.Binary{Op: sql.Multiply, Left: number(-1), Right: e}
			}
			scores.Elements = append(scores.Elements, e)
		}
		q.Select.Items = []sql.SelectItem{{Expr: r.rid()}, {Expr: r.payload(), Alias: "payload"}, {Expr: scores, Alias: "componentScores"}}
		info.RewrittenQuery = q.String()
		return info
	}
	if !skipRewrite || len(all) > 1 {
		for _, other := range all {
			scores.Elements = append(scores.Elements, other.scored())
		}
	}
	info.OrderBy, info.OrderByExpressions = []string{direction}, []string{c.score.String()}
	info.HasNonStreamingOrderBy = true
	if pool != nil {
		top := int(pool.Constant)
		info.Top = &top
	}
	q.Where = and(q.Where, &sql.Parameter{Name: filter})
	q.Select.Items = []sql.SelectItem{
		{Expr: r.rid()},
		{Expr: &sql.ArrayExpr{Elements: []sql.Expr{object(member("item", c.score))}}, Alias: "orderByItems"},
		{Expr: object(member("payload", r.payload()), member("componentScores", scores)), Alias: "payload"},
	}
	info.RewrittenQuery = q.String()
	return info
}

// pool is the TOP of a component's query; nil when the query has no bound.
func (r *rewriter) pool() *sql.Count {
	var rows int
	switch {
	case r.info.Top != nil:
		rows = *r.info.Top
	case r.info.Limit != nil:
		rows = *r.info.Offset + *r.info.Limit
	default:
		return nil
	}
	return &sql.Count{Clause: sql.Top, Constant: int32(max(leastPool, min(rows, math.MaxInt32/2)*2))}
}

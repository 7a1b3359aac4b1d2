package plan

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
)

// filter stands in a rewritten WHERE clause where a client that resumes a sorted query puts its own condition, or true.
const filter = "({documentdb-formattableorderbyquery-filter})"

// rewriter turns a query into the one that each partition runs, and notes how the client merges the rows.
type rewriter struct {
	q          *sql.Query
	info       *QueryInfo
	parameters map[string]value.Value
	vectors    vector.Policy
}

func (r *rewriter) rewrite() error {
	q := r.q
	if q.From == nil && !q.Aggregates() {
		// There is one row and one partition gives it: nothing is left to the client.
		r.info.Top, r.info.Offset, r.info.Limit = nil, nil, nil
		return nil
	}
	if q.Select.Distinct {
		r.info.DistinctType = DistinctUnordered
	}
	switch {
	case foldingSource(q) != nil:
		return r.distinctCount()
	case q.Aggregates():
		return r.groups()
	case len(q.OrderBy) > 0:
		if q.From == nil || q.From.Sources[0].Binding() == "" {
			return &Error{Message: "ORDER BY across partitions needs an alias for the first source of the FROM clause."}
		}
		r.sorted()
	case q.Select.Distinct && (q.Select.Top != nil || q.Offset != nil):
		// The client counts rows after it has dropped the duplicates of several partitions.
		rewritten := *q
		rewritten.Select.Top, rewritten.Offset, rewritten.Limit = nil, nil, nil
		r.info.RewrittenQuery = rewritten.String()
	case q.Offset != nil && *r.info.Limit == 0:
		// Each partition gives nothing, whatever it skips, and the plan says no more than that.
		r.info.Offset, r.info.Limit = nil, nil
	case q.Offset != nil:
		rewritten := *q
		rewritten.Offset, rewritten.Limit = r.page()
		r.info.RewrittenQuery = rewritten.String()
	}
	return nil
}

// distinctCount plans SELECT COUNT(1) FROM (SELECT DISTINCT ...): partitions return their distinct rows, the client counts.
func (r *rewriter) distinctCount() error {
	q := r.q
	inner := foldingSource(q)
	direct, ok := q.From.Sources[0].(*sql.SubquerySource)
	if !ok || direct.Query != inner || len(q.From.Sources) > 1 || inner.Aggregates() || foldingSource(inner) != nil ||
		q.Where != nil || len(q.GroupBy) > 0 || len(q.Select.Items) != 1 || !countsRows(q.Select.Items[0].Expr) {
		return &Error{Message: "A subquery in the FROM clause that has DISTINCT, GROUP BY or aggregates is not supported across partitions, " +
			"except for SELECT COUNT(1) FROM (SELECT DISTINCT ...)."}
	}
	r.info.DCountInfo = &DCountInfo{}
	if q.Select.Kind == sql.SelectList {
		r.info.DCountInfo.Alias = q.Select.Names()[0]
	}
	r.info.DistinctType = DistinctUnordered
	r.info.RewrittenQuery = inner.String()
	return nil
}

func countsRows(e sql.Expr) bool {
	call, ok := e.(*sql.Call)
	if !ok || call.Name != "COUNT" {
		return false
	}
	literal, ok := call.Args[0].(*sql.Literal)
	return ok && literal.Value.Kind() != value.Undefined
}

// sorted plans ORDER BY: each row brings its sort keys beside its payload, so that the client can merge sorted pages.
func (r *rewriter) sorted() {
	q := r.q
	keys := &sql.ArrayExpr{}
	for _, item := range q.OrderBy {
		direction := Ascending
		if item.Descending {
			direction = Descending
		}
		if call, isVector := sql.ScoreCall(item.Expr, sql.VectorDistance); isVector {
			r.info.HasNonStreamingOrderBy = true
			direction = Descending
			if r.vectors.Of(call, r.q.From.Sources[0].Binding(), r.parameters).Ascending() {
				direction = Ascending
			}
		}
		r.info.OrderBy = append(r.info.OrderBy, direction)
		r.info.OrderByExpressions = append(r.info.OrderByExpressions, item.Expr.String())
		keys.Elements = append(keys.Elements, object(member("item", item.Expr)))
	}
	rewritten := *q
	rewritten.Select = sql.SelectSpec{Kind: sql.SelectList, Items: []sql.SelectItem{
		{Expr: r.rid()}, {Expr: keys, Alias: "orderByItems"}, {Expr: r.payload(), Alias: "payload"},
	}}
	rewritten.Where = and(q.Where, &sql.Parameter{Name: filter})
	if q.Select.Kind == sql.SelectValue {
		// A row without a value is no row, and the payload's wrapping would hide that.
		rewritten.Where = and(rewritten.Where, &sql.Call{Name: "IS_DEFINED", Args: []sql.Expr{q.Select.Items[0].Expr}})
	}
	rewritten.Offset, rewritten.Limit = nil, nil
	if q.Select.Distinct {
		// Here a partition must not cut off: the client counts rows only after it has dropped duplicates, and the
		// resource id beside each payload keeps the partition from dropping them itself.
		r.distinctWhenSorted()
	} else {
		rewritten.Select.Top = q.Select.Top
		rewritten.Offset, rewritten.Limit = r.page()
	}
	r.info.RewrittenQuery = rewritten.String()
}

// distinctWhenSorted notes when sorting has brought equal rows together: when the one sort key is the row.
func (r *rewriter) distinctWhenSorted() {
	q := r.q
	if q.Select.Kind == sql.SelectValue && len(q.OrderBy) == 1 && sql.Canonical(q.OrderBy[0].Expr) == sql.Canonical(q.Select.Items[0].Expr) {
		r.info.DistinctType = DistinctOrdered
	}
}

func (r *rewriter) rid() sql.Expr {
	return &sql.Member{Object: &sql.Identifier{Name: r.q.From.Sources[0].Binding()}, Name: "_rid"}
}

// payload is the row as the query itself would return it.
func (r *rewriter) payload() sql.Expr {
	s := &r.q.Select
	switch s.Kind {
	case sql.SelectStar:
		return &sql.Identifier{Name: r.q.From.Sources[0].Binding()}
	case sql.SelectValue:
		return s.Items[0].Expr
	case sql.SelectList:
	}
	row := &sql.ObjectExpr{}
	for i, name := range s.Names() {
		row.Members = append(row.Members, member(name, s.Items[i].Expr))
	}
	return row
}

// groups plans aggregates and GROUP BY: each partition returns partial results for its groups, and the client combines
// those of equal keys. TOP and OFFSET are left to the client, since a group may have a part in every partition. ORDER BY
// stays out of the plan: the service takes it beside GROUP BY, but no row of the two forms of rewriting could carry both.
func (r *rewriter) groups() error {
	q := r.q
	payload, err := r.partial()
	if err != nil {
		return err
	}
	rewritten := *q
	rewritten.OrderBy, rewritten.Offset, rewritten.Limit = nil, nil, nil
	keys := &sql.ArrayExpr{}
	for _, e := range q.GroupBy {
		r.info.GroupByExpressions = append(r.info.GroupByExpressions, e.String())
		keys.Elements = append(keys.Elements, object(member("item", e)))
	}
	named := sql.SelectItem{Expr: payload, Alias: "payload"}
	switch {
	case len(q.GroupBy) > 0:
		rewritten.Select = sql.SelectSpec{Kind: sql.SelectList, Items: []sql.SelectItem{{Expr: keys, Alias: "groupByItems"}, named}}
	case q.Select.Kind == sql.SelectValue:
		rewritten.Select = sql.SelectSpec{Kind: sql.SelectValue, Items: []sql.SelectItem{{Expr: payload}}}
	default:
		rewritten.Select = sql.SelectSpec{Kind: sql.SelectList, Items: []sql.SelectItem{named}}
	}
	r.info.RewrittenQuery = rewritten.String()
	return nil
}

// partial is the payload of a group: aggregates in the form in which they can be combined, all else as it is.
func (r *rewriter) partial() (sql.Expr, error) {
	s := &r.q.Select
	if s.Kind == sql.SelectValue {
		e := s.Items[0].Expr
		kind, part, err := aggregate(e)
		if err != nil || kind == "" {
			return e, err
		}
		r.info.Aggregates = append(r.info.Aggregates, kind)
		return &sql.ArrayExpr{Elements: []sql.Expr{part}}, nil
	}
	row := &sql.ObjectExpr{}
	for i, name := range s.Names() {
		kind, part, err := aggregate(s.Items[i].Expr)
		if err != nil {
			return nil, err
		}
		r.info.GroupByAliases = append(r.info.GroupByAliases, name)
		r.info.GroupByAliasToAggregateType[name] = nil
		if kind != "" {
			r.info.GroupByAliasToAggregateType[name] = &kind
		}
		row.Members = append(row.Members, member(name, part))
	}
	return row, nil
}

// aggregate returns the kind of an aggregate call and its combinable form; no kind and the expression itself for what
// has no aggregate in it.
func aggregate(e sql.Expr) (kind string, part sql.Expr, err error) {
	if !sql.IsAggregate(e) {
		// Within a partition they are allowed: the rewritten queries are made of them.
		if sql.HasAggregate(e) {
			return "", nil, &Error{Message: "Compositions of aggregates and other expressions are not allowed."}
		}
		return "", e, nil
	}
	call := e.(*sql.Call)
	argument := func(name string) sql.Expr { return &sql.Call{Name: name, Args: call.Args} }
	count := member("count", argument("COUNT"))
	switch call.Name {
	case "AVG":
		return "Average", object(member("item", object(member("sum", argument("SUM")), count))), nil
	case "COUNT":
		return "Count", object(member("item", call)), nil
	case "COUNTIF":
		return "CountIf", object(member("item", call)), nil
	case "MAKELIST":
		return "MakeList", object(member("item", call)), nil
	case "MAKESET":
		return "MakeSet", object(member("item", call)), nil
	case "MAX":
		return "Max", object(member("item", call), member("item2", object(member("max", call), count))), nil
	case "MIN":
		return "Min", object(member("item", call), member("item2", object(member("min", call), count))), nil
	case "SUM":
		return "Sum", object(member("item", call)), nil
	}
	return "", nil, &Error{Message: "The emulator does not support " + call.Name + " across partitions."}
}

func and(left, right sql.Expr) sql.Expr {
	if left == nil {
		return right
	}
	return &sql.Binary{Op: sql.And, Left: left, Right: right}
}

func object(members ...sql.ObjectMember) *sql.ObjectExpr { return &sql.ObjectExpr{Members: members} }

func member(name string, e sql.Expr) sql.ObjectMember { return sql.ObjectMember{Name: name, Value: e} }

package engine

import (
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Query is what to look for in a scope, and in which order. It is a value:
// every method returns a changed copy, and one Query may be used by many
// goroutines. Nothing is checked before a verb uses it.
type Query struct {
	where  []Predicate
	raw    []rawCondition
	order  []ordering
	limit  int
	page   int      // rows that one answer may hold where there is no limit; 0 leaves it to the service
	group  []string // columns of GROUP BY, set by the function of that name
	broken error
}

type ordering struct {
	field string
	desc  bool
}

type rawCondition struct {
	text   string
	params []Param
}

// Param is a named value of a raw condition; the name goes without "@".
type Param struct {
	Name  string
	Value any
}

// P makes a Param.
func P(name string, value any) Param { return Param{Name: name, Value: value} }

// All looks for every document of the scope.
func All() Query { return Query{} }

// Where looks for the documents for which all conditions hold. The statement is
// made in query_sql.go.
func Where(conditions ...Predicate) Query { return Query{where: conditions} }

// SQL looks for the documents for which a condition in Cosmos SQL holds, where
// the document is called c: SQL("c.title = @t AND ARRAY_LENGTH(c.tags) > 2", P("t", title)).
// It is the part behind WHERE alone: no SELECT, ORDER BY or other clause.
//
// The text must not be put together from input; values belong into params.
// Parentheses, brackets and quotes must be balanced and comments are refused,
// so that no text can reach around the scope's own conditions.
func SQL(condition string, params ...Param) Query {
	return Query{raw: []rawCondition{{condition, params}}}
}

// And adds conditions.
func (q Query) And(conditions ...Predicate) Query {
	q.where = append(slices.Clip(q.where), conditions...)
	return q
}

// AndSQL adds a condition in SQL, under the rules of [SQL].
func (q Query) AndSQL(condition string, params ...Param) Query {
	q.raw = append(slices.Clip(q.raw), rawCondition{condition, params})
	return q
}

// OrderBy sorts by a field, smallest first. A second OrderBy sorts the ties of
// the first and needs a composite index in the container's policy.
// Documents without the field come first.
func (q Query) OrderBy(field string) Query {
	q.order = append(slices.Clip(q.order), ordering{field, false})
	return q
}

// OrderByDesc sorts by a field, largest first; see [Query.OrderBy].
func (q Query) OrderByDesc(field string) Query {
	q.order = append(slices.Clip(q.order), ordering{field, true})
	return q
}

// Bound is the query's limit; 0 is none.
func (q Query) Bound() int { return q.limit }

// IsSorted reports whether the query has an order.
func (q Query) IsSorted() bool { return len(q.order) > 0 }

// Limit ends the result after n documents; n must be positive.
func (q Query) Limit(n int) Query {
	if n <= 0 {
		q.broken = &tenantitem.InvalidError{What: "query", Reason: fmt.Sprintf("its limit is %d", n), Hint: "leave Limit out, or give it at least 1"}
	}
	q.limit = n
	return q
}

// QueryHandle is embedded by the public query and leads to what it looks for.
type QueryHandle struct{ q Query }

// HandleOf makes the handle of a query.
func HandleOf(q Query) QueryHandle { return QueryHandle{q} }

// Unwrap returns what a handle leads to.
func Unwrap(h QueryHandle) Query { return h.q }

func (h QueryHandle) query() Query { return h.q }

// QueryOf returns what a public query looks for.
func QueryOf(q interface{ query() Query }) Query { return q.query() }

package repository

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Query is what to look for in a scope, and in which order. It is a value:
// every method returns a changed copy, and one Query may be used by many
// goroutines. Nothing is checked before a verb uses it.
type Query struct{ built }

// built is how Grove's other packages reach what a query looks for.
type built = engine.QueryHandle

func queryOf(q engine.Query) Query { return Query{engine.HandleOf(q)} }

func (q Query) inner() engine.Query { return engine.Unwrap(q.built) }

// P makes a named value of a condition in SQL; the name goes without "@".
func P(name string, value any) azcosmos.QueryParameter {
	return azcosmos.QueryParameter{Name: "@" + name, Value: value}
}

func params(of []azcosmos.QueryParameter) []engine.Param {
	out := make([]engine.Param, len(of))
	for i, p := range of {
		out[i] = engine.P(strings.TrimPrefix(p.Name, "@"), p.Value)
	}
	return out
}

// All looks for every document of the scope.
func All() Query { return Query{} }

// Where looks for the documents for which all conditions hold. [ScopeOf.Explain]
// shows the SQL that is made of it.
func Where(conditions ...Predicate) Query { // internal/engine/query_sql.go makes it
	return queryOf(engine.Where(unwrapped(conditions)...))
}

// SQL looks for the documents for which a condition in Cosmos SQL holds, where
// the document is called c: SQL("c.title = @t AND ARRAY_LENGTH(c.tags) > 2", P("t", title)).
// It is the part behind WHERE alone: no SELECT, ORDER BY or other clause.
//
// The text must not be put together from input; values belong into params.
// Parentheses, brackets and quotes must be balanced and comments are refused,
// so that no text can reach around the scope's own conditions.
func SQL(condition string, values ...azcosmos.QueryParameter) Query {
	return queryOf(engine.SQL(condition, params(values)...))
}

// And adds conditions.
func (q Query) And(conditions ...Predicate) Query {
	return queryOf(q.inner().And(unwrapped(conditions)...))
}

// AndSQL adds a condition in SQL, under the rules of [SQL].
func (q Query) AndSQL(condition string, values ...azcosmos.QueryParameter) Query {
	return queryOf(q.inner().AndSQL(condition, params(values)...))
}

// OrderBy sorts by a field, smallest first. A second OrderBy sorts the ties of
// the first and needs a composite index in the container's policy.
// Documents without the field come first.
func (q Query) OrderBy(field string) Query { return queryOf(q.inner().OrderBy(field)) }

// OrderByDesc sorts by a field, largest first; see [Query.OrderBy].
func (q Query) OrderByDesc(field string) Query { return queryOf(q.inner().OrderByDesc(field)) }

// Limit ends the result after n documents; n must be positive.
func (q Query) Limit(n int) Query { return queryOf(q.inner().Limit(n)) }

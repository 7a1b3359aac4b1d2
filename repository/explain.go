package repository

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Explain is [ScopeOf.Explain].
//
//go:noinline
func (r *reader[P]) Explain(q Query) (Explanation, error) { return r.scope.Explain(q) }

// Explain shows what Query would send for q in this scope. It fails as Query
// would before its first request.
//
//go:noinline
func (s *ScopeOf[P]) Explain(q Query) (Explanation, error) { return s.Reader.scope.Explain(q) }

func (s *scope) Explain(q Query) (Explanation, error) {
	k := engine.Call{Collection: s.c, Op: "Explain", At: &s.at}
	if s.at.Err != nil {
		return Explanation{}, k.Fail(s.at.Err)
	}
	st, err := k.Collection.Compile(&s.at, q.inner(), engine.SelectAll)
	if err != nil {
		return Explanation{}, k.Fail(err)
	}
	scope := s.at.Describe()
	// Of a type with older names, each name has a partition where the key holds the entity type.
	if n := len(s.c.PartitionsOf(s.at)); s.at.Full && n > 1 {
		scope = fmt.Sprintf("%d partitions", n)
	}
	if _, ok := q.inner().OnlyID(&s.at); ok {
		scope = "point read"
	}
	return Explanation{SQL: st.Text, Parameters: st.Params, Scope: scope}, nil
}

// Explanation is what a query would send. It is made without any request and
// may hold personal data: the values of the parameters.
type Explanation struct {
	// SQL is the statement's text.
	SQL string
	// Parameters are its values.
	Parameters []azcosmos.QueryParameter
	// Scope is "point read" for a query that one answers, "one partition",
	// "2 partitions" where the entity type has an older name, which has a
	// partition of its own and is asked by a statement of its own, "prefix of the partition key", "all tenants", or "unbound" for a query
	// that was not given to a scope.
	Scope string
}

// String returns the scope, the statement and the names of the parameters.
func (e Explanation) String() string { return engine.Explanation(e).String() }

// Explain shows the query on its own: without the conditions that a scope
// adds, and without a check of its fields.
func (q Query) Explain() (Explanation, error) {
	e, err := q.inner().Explain()
	return Explanation(e), err
}

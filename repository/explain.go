package repository

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Explanation is what a query would send. It is made without any request and
// may hold personal data: the values of the parameters.
type Explanation struct {
	// SQL is the statement's text.
	SQL string
	// Parameters are its values.
	Parameters []azcosmos.QueryParameter
	// Scope is "point read" for a query that one answers, "one partition",
	// "prefix of the partition key", "all tenants", or "unbound" for a query
	// that was not given to a scope.
	Scope string
}

// String returns the scope, the statement and the names of the parameters.
func (e Explanation) String() string {
	names := make([]string, len(e.Parameters))
	for i, p := range e.Parameters {
		names[i] = p.Name
	}
	return fmt.Sprintf("%s: %s [%s]", e.Scope, e.SQL, strings.Join(names, " "))
}

// Explain shows what Query would send for q in this scope. It fails as Query
// would before its first request.
func (r *Reader[T]) Explain(q Query) (Explanation, error) {
	k := call{core: r.repo.core, op: "Explain", at: &r.at}
	if r.at.err != nil {
		return Explanation{}, k.fail(r.at.err)
	}
	st, err := k.core.compile(&r.at, q, selectAll)
	if err != nil {
		return Explanation{}, k.fail(err)
	}
	scope := r.at.describe()
	if _, ok := q.onlyID(&r.at); ok {
		scope = "point read"
	}
	return Explanation{SQL: st.text, Parameters: st.params, Scope: scope}, nil
}

// Explain shows the query on its own: without the conditions that a scope
// adds, and without a check of its fields.
func (q Query) Explain() (Explanation, error) {
	w := &sqlWriter{}
	w.text.WriteString(selectAll)
	word := " WHERE "
	for _, p := range q.where {
		w.text.WriteString(word)
		word = " AND "
		if err := p.write(w); err != nil {
			return Explanation{}, err
		}
	}
	if err := checkRaws(q.raw); err != nil {
		return Explanation{}, err
	}
	for _, raw := range q.raw {
		w.text.WriteString(word + "(" + raw.text + ")")
		word = " AND "
	}
	if q.broken != nil {
		return Explanation{}, q.broken
	}
	if err := q.writeOrder(w); err != nil {
		return Explanation{}, err
	}
	return Explanation{SQL: w.text.String(), Parameters: w.params, Scope: "unbound"}, nil
}

func (p *partition) describe() string {
	switch {
	case p.all:
		return "all tenants"
	case p.full:
		return "one partition"
	}
	return "prefix of the partition key"
}

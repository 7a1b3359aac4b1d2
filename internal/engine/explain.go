package engine

import (
	"fmt"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Explanation is what a query would send. It is made without any request and
// may hold personal data: the values of the parameters.
type Explanation struct {
	// SQL is the statement's text.
	SQL string
	// Parameters are its values.
	Parameters []cosmos.QueryParameter
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

// Explain shows the query on its own: without the conditions that a scope
// adds, and without a check of its fields.
func (q Query) Explain() (Explanation, error) {
	w := &SQLWriter{}
	w.Text.WriteString(SelectAll)
	word := " WHERE "
	for _, p := range q.where {
		w.Text.WriteString(word)
		word = " AND "
		if err := p.Write(w); err != nil {
			return Explanation{}, err
		}
	}
	if err := checkRaws(q.raw); err != nil {
		return Explanation{}, err
	}
	for _, raw := range q.raw {
		w.Text.WriteString(word + "(" + raw.text + ")")
		word = " AND "
	}
	if q.broken != nil {
		return Explanation{}, q.broken
	}
	if err := q.writeOrder(w); err != nil {
		return Explanation{}, err
	}
	return Explanation{SQL: w.Text.String(), Parameters: w.Params, Scope: "unbound"}, nil
}

// Describe says in words which documents the scope holds.
func (p *Partition) Describe() string {
	switch {
	case p.All:
		return "all tenants"
	case p.Full:
		return "one partition"
	}
	return "prefix of the partition key"
}

package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Computed are a container's computed properties: queries see them as if they were stored, and win over stored ones of the
// same name. SELECT * doesn't return them. Unlike in the service, wildcard paths of the indexing policy cover them.
type Computed []computedProperty

type computedProperty struct {
	name    string
	program *eval.Program
}

// ParseComputed reads the computedProperties of a container, undefined included. The error, a [*sql.SyntaxError] or an
// [*eval.Error], is for a query that a computed property can't have.
func ParseComputed(v value.Value) (Computed, error) {
	list, _ := v.Array()
	var computed Computed
	for _, e := range list {
		name, _ := e.Get("name").Str()
		text, _ := e.Get("query").Str()
		q, err := sql.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("computed property %q: %w", name, err)
		}
		simple := rootName(q) != "" && len(q.From.Sources) == 1 && q.Where == nil && !q.Aggregates() && len(q.OrderBy) == 0 &&
			q.Limit == nil && q.Select.Top == nil && !q.Select.Distinct && q.Select.Kind == sql.SelectValue
		if name == "" || !simple {
			return nil, &eval.Error{Message: fmt.Sprintf("The computed property %q needs a name and a query of the form "+
				"SELECT VALUE expression FROM c, without other clauses.", name)}
		}
		program, err := eval.Compile(q)
		if err != nil {
			return nil, fmt.Errorf("computed property %q: %w", name, err)
		}
		if program.CallsUserDefined() {
			return nil, &eval.Error{Message: fmt.Sprintf("The computed property %q calls a user-defined function.", name)}
		}
		computed = append(computed, computedProperty{name: name, program: program})
	}
	return computed, nil
}

// adder returns a function that adds the properties to items.
func (c Computed) adder(ctx context.Context, env eval.Env) func(value.Value) (value.Value, error) {
	if len(c) == 0 {
		return func(item value.Value) (value.Value, error) { return item, nil }
	}
	runs := make([]*eval.Run, len(c))
	for i, p := range c {
		runs[i] = p.program.NewRun(ctx, env)
	}
	return func(item value.Value) (value.Value, error) {
		stored, _ := item.Members()
		members := slices.Clone(stored)
		for i, p := range c {
			var result value.Value
			if err := runs[i].Item(item, func(r eval.Row) bool {
				result, _, _ = r.Value() // the run keeps the error
				return false
			}); err != nil {
				return value.Value{}, err
			}
			env.Meter.Hold(eval.MemoryOf(result)) // it outlives the run's row
			members = slices.DeleteFunc(members, func(m value.Member) bool { return m.Name == p.name })
			members = append(members, value.Member{Name: p.name, Value: result})
		}
		return value.FromObject(members), nil
	}
}

package eval

import (
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
)

// Schema is what a container's policies say of its items, as far as a query's meaning depends on it.
type Schema struct {
	Vectors vector.Policy
	// Parameters are the query's, for options that they hold.
	Parameters map[string]value.Value
}

// itemName is the name under which a query sees the container's whole item, empty when it doesn't.
func itemName(q *sql.Query) string {
	if q.From == nil {
		return ""
	}
	source, ok := q.From.Sources[0].(*sql.PathSource)
	if !ok || !source.Path.Container || len(source.Path.Steps) > 0 {
		return ""
	}
	return source.Binding()
}

// sortKey compiles a key of ORDER BY. Of scores the best come first, unless a plan's query says otherwise, and items
// without a score last in either direction.
func (c *compiler) sortKey(item sql.OrderItem, in *scope) key {
	k := key{node: c.expr(item.Expr, in), descending: item.Descending}
	if !sql.IsScore(item.Expr) {
		return k
	}
	call := item.Expr.(*sql.Call)
	best := true
	if call.Name != sql.PartialFullTextScore {
		best = !c.schema.Vectors.Of(call, c.root, c.schema.Parameters).Ascending()
	}
	switch {
	case call.Name == sql.VectorDistance || !item.Descending && !item.Ascending:
		k.descending = best
	default:
		k.descending = item.Descending
	}
	score, worst := k.node, value.FromNumber(math.MaxFloat64)
	if k.descending {
		worst = value.FromNumber(-math.MaxFloat64)
	}
	k.node = func(r *run) value.Value {
		if v := score(r); !v.IsUndefined() {
			return v
		}
		return worst
	}
	return k
}

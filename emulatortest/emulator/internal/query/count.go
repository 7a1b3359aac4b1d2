package query

import (
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

// CountingSource is a source whose indexes know how many items there are.
type CountingSource interface {
	IndexedSource
	// Count is how many items meet a condition, or how many there are if it is nil. It reports false when that takes a look at
	// the items.
	Count(c *index.Condition) (int, bool)
}

// counted answers a query that only counts items, if an index can, and reports whether it did.
func (e *execution) counted() (bool, error) {
	source, ok := e.req.Source.(CountingSource)
	if !ok || e.from != nil || !countsItems(e.req.Query) {
		return false, nil
	}
	var condition *index.Condition
	if e.req.Query.Where != nil {
		a := PlanAccess(e.req.Query, e.req.Parameters, e.req.Policy, e.req.Computed)
		if len(conjuncts(e.req.Query.Where, nil)) != 1 || len(a.where) != 1 || len(a.where[0]) != 1 || !a.where[0][0].Same {
			return false, nil
		}
		condition = &a.where[0][0]
	}
	n, ok := source.Count(condition)
	if !ok {
		return false, nil
	}
	groups := e.run.Groups()
	groups.CountRows(n)
	v, ok, err := groups.Row(0).Value()
	if err != nil || !ok {
		return true, err
	}
	at := position{}
	if e.emit(v.AppendJSON(nil), func() *position { return &at }) {
		e.done(at.next)
	}
	return true, nil
}

// countsItems reports whether all that a query wants to know of items is their number: COUNT of a constant or of the item, over
// items alone.
func countsItems(q *sql.Query) bool {
	root := rootName(q)
	if root == "" || len(q.From.Sources) != 1 || len(q.GroupBy) > 0 || len(q.OrderBy) > 0 || !q.Aggregates() {
		return false
	}
	only := true
	for _, item := range q.Select.Items {
		sql.Walk(item.Expr, func(part sql.Expr) bool {
			switch part := part.(type) {
			case *sql.Call:
				if !strings.EqualFold(part.Name, "COUNT") || part.UserDefined || len(part.Args) != 1 {
					only = false
					return false
				}
				literal, isLiteral := part.Args[0].(*sql.Literal)
				name, isName := part.Args[0].(*sql.Identifier)
				only = only && (isLiteral && !literal.Value.IsUndefined() || isName && name.Name == root)
				return false
			case *sql.ArrayExpr, *sql.ObjectExpr, *sql.Literal:
				return only
			default:
				only = false
				return false
			}
		})
	}
	return only
}

package query

import (
	"context"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// predicate is one of the conditions that WHERE joins by AND.
type predicate struct {
	expr sql.Expr
	// paths are the properties that an index on them would serve the condition from; empty when none would.
	paths [][]string
	// equality says that the condition is one property = constant.
	equality bool
}

// predicates takes WHERE apart. It is for queries whose first source is the container's item.
func predicates(q *sql.Query) []predicate {
	root := rootName(q)
	if root == "" || q.Where == nil {
		return nil
	}
	var all []predicate
	for _, e := range conjuncts(q.Where, nil) {
		p := predicate{expr: e}
		if paths, ok := servable(e, root); ok {
			p.paths = paths
			b, isBinary := e.(*sql.Binary)
			p.equality = isBinary && b.Op == sql.Equals
		}
		all = append(all, p)
	}
	return all
}

// rootName is the name under which the query sees the item; empty when its first source is something else.
func rootName(q *sql.Query) string {
	if q.From == nil {
		return ""
	}
	source, ok := q.From.Sources[0].(*sql.PathSource)
	if !ok || !source.Path.Container || len(source.Path.Steps) > 0 {
		return ""
	}
	return source.Binding()
}

func conjuncts(e sql.Expr, all []sql.Expr) []sql.Expr {
	for {
		b, ok := e.(*sql.Binary)
		if !ok || b.Op != sql.And {
			return append(all, e)
		}
		all = conjuncts(b.Left, all)
		e = b.Right
	}
}

// servable returns the properties whose indexes would answer the condition without loading items.
func servable(e sql.Expr, root string) (paths [][]string, ok bool) {
	switch e := e.(type) {
	case *sql.Binary:
		switch e.Op {
		case sql.And, sql.Or:
			left, okLeft := servable(e.Left, root)
			right, okRight := servable(e.Right, root)
			return append(left, right...), okLeft && okRight
		case sql.Equals, sql.NotEquals, sql.Less, sql.LessOrEqual, sql.Greater, sql.GreaterOrEqual:
			return property(root, e.Left, e.Right, e.Left, e.Right)
		default:
			return nil, false
		}
	case *sql.Unary:
		if e.Op == sql.Not {
			return servable(e.Operand, root)
		}
	case *sql.In:
		return property(root, e.Operand, nil, e.List...)
	case *sql.Between:
		return property(root, e.Operand, nil, e.Low, e.High)
	case *sql.Like:
		return property(root, e.Operand, nil, e.Pattern)
	case *sql.Call:
		return servableCall(e, root)
	case *sql.Identifier, *sql.Member:
		return property(root, e, nil)
	}
	return nil, false
}

// servableCall knows the functions that Microsoft's reference says use the index.
func servableCall(e *sql.Call, root string) (paths [][]string, ok bool) {
	if e.UserDefined || len(e.Args) == 0 {
		return nil, false
	}
	switch strings.ToUpper(e.Name) {
	case "ARRAY_CONTAINS":
		if paths, ok = property(root, e.Args[0], nil, e.Args[1:]...); ok {
			return [][]string{append(paths[0], "[]")}, true
		}
		// ARRAY_CONTAINS(@list, c.x) is c.x IN (...).
		return property(root, e.Args[1], nil, e.Args[0])
	case "STARTSWITH", "ENDSWITH", "CONTAINS", "STRINGEQUALS", "REGEXMATCH", "IS_ARRAY", "IS_BOOL", "IS_DEFINED", "IS_FINITE_NUMBER",
		"IS_INTEGER", "IS_NULL", "IS_NUMBER", "IS_OBJECT", "IS_PRIMITIVE", "IS_STRING", "ST_DISTANCE", "ST_INTERSECTS", "ST_WITHIN":
		return property(root, e.Args[0], nil, e.Args[1:]...)
	}
	return nil, false
}

// property returns the path when one of two operands is a property of the item and the others are constants. Operands that
// are the property itself may be among the others.
func property(root string, e, alternative sql.Expr, others ...sql.Expr) ([][]string, bool) {
	name, steps, ok := sql.ResolvePath(e)
	if !ok || name != root {
		if alternative == nil {
			return nil, false
		}
		return property(root, alternative, nil, others...)
	}
	for _, other := range others {
		if other != e && !constant(other) {
			return nil, false
		}
	}
	return [][]string{stepNames(steps)}, len(steps) > 0
}

// constant reports whether an expression is the same for every item.
func constant(e sql.Expr) bool {
	same := true
	sql.Walk(e, func(part sql.Expr) bool {
		same = same && sql.Subquery(part) == nil
		_, isName := part.(*sql.Identifier)
		same = same && !isName
		return same
	})
	return same
}

// itemFilter lets through the items that an index would have found.
type itemFilter struct {
	run *eval.Run // nil when no condition is served by an index
}

// newItemFilter prepares the part of WHERE that indexes serve.
func newItemFilter(ctx context.Context, q *sql.Query, p *Policy, env eval.Env) (*itemFilter, error) {
	var served sql.Expr
	for _, c := range predicates(q) {
		if len(c.paths) == 0 || slices.ContainsFunc(c.paths, func(path []string) bool { return !p.indexed(path) }) {
			continue
		}
		if served == nil {
			served = c.expr
			continue
		}
		served = &sql.Binary{Op: sql.And, Left: served, Right: c.expr}
	}
	if served == nil {
		return &itemFilter{}, nil
	}
	program, err := eval.Compile(&sql.Query{
		Select: sql.SelectSpec{Kind: sql.SelectStar},
		From:   &sql.From{Sources: q.From.Sources[:1]},
		Where:  served,
	})
	if err != nil {
		return nil, err
	}
	return &itemFilter{run: program.NewRun(ctx, env)}, nil
}

func (f *itemFilter) pass(item value.Value) (bool, error) {
	if f.run == nil {
		return true, nil
	}
	pass := false
	err := f.run.Item(item, func(eval.Row) bool {
		pass = true
		return false
	})
	return pass, err
}

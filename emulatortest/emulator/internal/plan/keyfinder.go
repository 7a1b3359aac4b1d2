package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// finder finds the key values for which conditions can be true.
type finder struct {
	container  Container
	parameters map[string]value.Value
	paths      [][]string
	work       int // combinations tried so far
	folded     int // expressions looked at for being constants
}

// rows finds where a query has rows.
func (f *finder) rows(q *sql.Query, in *names) cases {
	found := cases{any: true}
	if q.From != nil {
		for _, source := range q.From.Sources {
			var steps []sql.Step
			known := false
			switch s := source.(type) {
			case *sql.PathSource:
				steps, known = in.path(&s.Path)
			case *sql.IteratorSource:
				if s.Query != nil {
					found = f.both(found, f.inner(s.Query, in))
				}
			case *sql.SubquerySource:
				found = f.both(found, f.inner(s.Query, in))
			}
			in = in.bind(source.Binding(), steps, known)
		}
	}
	if q.Where != nil {
		found = f.both(found, f.find(q.Where, in))
	}
	return found
}

// inner finds where a subquery has rows. One that only counts has a row whatever it counts.
func (f *finder) inner(q *sql.Query, in *names) cases {
	if q.Aggregates() && len(q.GroupBy) == 0 {
		return cases{any: true}
	}
	return f.rows(q, in)
}

// find finds where an expression can be true.
func (f *finder) find(e sql.Expr, in *names) cases {
	switch e := e.(type) {
	case *sql.Binary:
		switch e.Op {
		case sql.And:
			return f.all(operands(e), in)
		case sql.Or:
			return f.either(operands(e), in)
		case sql.Equals, sql.Less, sql.LessOrEqual, sql.Greater, sql.GreaterOrEqual:
			if found := f.comparison(e, in); !found.any {
				return found
			}
		default:
		}
	case *sql.In:
		if !e.Not {
			return f.membership(e.Operand, e.List, in)
		}
	case *sql.Between:
		if !e.Not {
			return f.both(f.comparison(&sql.Binary{Op: sql.GreaterOrEqual, Left: e.Operand, Right: e.Low}, in),
				f.comparison(&sql.Binary{Op: sql.LessOrEqual, Left: e.Operand, Right: e.High}, in))
		}
	case *sql.Like:
		if !e.Not {
			return f.like(e, in)
		}
	case *sql.Call:
		if found, ok := f.call(e, in); ok {
			return found
		}
	case *sql.Unary:
		if call, ok := e.Operand.(*sql.Call); ok && e.Op == sql.Not && call.Name == "IS_DEFINED" {
			if level, ok := f.argument(call, in); ok {
				return one(level, point(bound{kind: undefinedKind}))
			}
		}
	case *sql.Exists, *sql.ScalarSubquery:
		return f.inner(sql.Subquery(e), in)
	default:
	}
	if v, ok := f.constant(e); ok {
		if holds, _ := v.Bool(); !holds {
			return cases{}
		}
	}
	return cases{any: true}
}

// operands flattens a chain of one operator, since a chain may be thousands long.
func operands(e *sql.Binary) []sql.Expr {
	var list []sql.Expr
	for {
		list = append(list, e.Right)
		left, ok := e.Left.(*sql.Binary)
		if !ok || left.Op != e.Op {
			list = append(list, e.Left)
			slices.Reverse(list)
			return list
		}
		e = left
	}
}

// comparison finds where two operands compare as the operator says. Both must then have a value, which a subquery has only
// where it has a row.
func (f *finder) comparison(e *sql.Binary, in *names) cases {
	found := cases{any: true}
	if level, ok := f.level(e.Left, in); ok {
		found = f.compared(level, e.Op, e.Right)
	} else if level, ok := f.level(e.Right, in); ok {
		found = f.compared(level, mirrored(e.Op), e.Left)
	} else if e.Op == sql.Equals {
		found = f.both(f.magnitude(e.Left, e.Right, in), f.magnitude(e.Right, e.Left, in))
	}
	for _, operand := range []sql.Expr{e.Left, e.Right} {
		if subquery, ok := operand.(*sql.ScalarSubquery); ok {
			found = f.both(found, f.inner(subquery.Query, in))
		}
	}
	return found
}

func mirrored(op sql.BinaryOp) sql.BinaryOp {
	switch op {
	case sql.Less:
		return sql.Greater
	case sql.LessOrEqual:
		return sql.GreaterOrEqual
	case sql.Greater:
		return sql.Less
	case sql.GreaterOrEqual:
		return sql.LessOrEqual
	default:
		return op
	}
}

// compared bounds a level by a comparison with an expression, if that is a constant.
func (f *finder) compared(level int, op sql.BinaryOp, other sql.Expr) cases {
	v, ok := f.constant(other)
	switch {
	case !ok:
		return cases{any: true}
	case v.IsUndefined(): // no comparison with it is ever true
		return cases{}
	}
	b, ok := boundOf(v)
	if !ok {
		return cases{any: true}
	}
	if op == sql.Equals {
		return one(level, point(b))
	}
	if i, ok := compared(op, b); ok {
		return one(level, i)
	}
	return cases{any: true}
}

// magnitude understands ABS(key) = number.
func (f *finder) magnitude(e, other sql.Expr, in *names) cases {
	call, ok := e.(*sql.Call)
	if !ok || call.UserDefined || call.Name != "ABS" {
		return cases{any: true}
	}
	level, isKey := f.argument(call, in)
	v, isConstant := f.constant(other)
	if !isKey || !isConstant {
		return cases{any: true}
	}
	n, isNumber := v.Number()
	if !isNumber || n < 0 || math.IsNaN(n) {
		return cases{}
	}
	found := one(level, point(bound{kind: numberKind, number: n + 0}))
	if n != 0 {
		found.list = append(found.list, one(level, point(bound{kind: numberKind, number: -n})).list...)
	}
	return found
}

// membership finds where an operand is one of a list.
func (f *finder) membership(operand sql.Expr, list []sql.Expr, in *names) cases {
	level, ok := f.level(operand, in)
	if !ok {
		return cases{any: true}
	}
	found := cases{}
	for _, item := range list {
		c := f.compared(level, sql.Equals, item)
		if c.any {
			return c
		}
		found.list = append(found.list, c.list...)
	}
	return found
}

// like understands patterns that only one text fits.
func (f *finder) like(e *sql.Like, in *names) cases {
	level, isKey := f.level(e.Operand, in)
	v, isConstant := f.constant(e.Pattern)
	pattern, isText := v.Str()
	if !isKey || !isConstant || !isText {
		return cases{any: true}
	}
	var exact strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && e.Escape != 0 && r == e.Escape:
			escaped = true
			continue
		case !escaped && strings.ContainsRune("%_[", r):
			return cases{any: true}
		}
		escaped = false
		exact.WriteRune(r)
	}
	if escaped {
		return cases{any: true}
	}
	return one(level, point(bound{kind: textKind, text: exact.String()}))
}

// call finds where a function of the key is true.
func (f *finder) call(e *sql.Call, in *names) (cases, bool) {
	if e.UserDefined || len(e.Args) == 0 {
		return cases{}, false
	}
	switch e.Name {
	case "ARRAY_CONTAINS":
		if list, ok := f.constant(e.Args[0]); ok && len(e.Args) == 2 {
			elements, _ := list.Array()
			items := make([]sql.Expr, len(elements))
			for i, v := range elements {
				items[i] = &sql.Literal{Value: v}
			}
			return f.membership(e.Args[1], items, in), true
		}
	case "STRINGEQUALS":
		if len(e.Args) == 2 {
			return f.comparison(&sql.Binary{Op: sql.Equals, Left: e.Args[0], Right: e.Args[1]}, in), true
		}
	default:
		if level, ok := f.argument(e, in); ok {
			return typed(level, e.Name)
		}
	}
	return cases{}, false
}

// typed understands the functions that ask for a type. Arrays and objects are no partition keys.
func typed(level int, name string) (cases, bool) {
	between := func(low, high kind) cases {
		return one(level, interval{bound{kind: low}, bound{kind: high, open: true}})
	}
	switch name {
	case "IS_NULL":
		return one(level, point(bound{kind: nullKind})), true
	case "IS_BOOL":
		found := one(level, point(bound{kind: falseKind}))
		found.list = append(found.list, one(level, point(bound{kind: trueKind})).list...)
		return found, true
	case "IS_NUMBER":
		return one(level, interval{bound{kind: numberKind, number: math.Inf(-1)}, bound{kind: textKind, open: true}}), true
	case "IS_STRING":
		return between(textKind, aboveAll), true
	case "IS_DEFINED", "IS_PRIMITIVE":
		return between(nullKind, aboveAll), true
	}
	return cases{}, false
}

// argument returns which level of the key a function's only argument is.
func (f *finder) argument(call *sql.Call, in *names) (level int, ok bool) {
	if call.UserDefined || len(call.Args) != 1 {
		return 0, false
	}
	return f.level(call.Args[0], in)
}

// level returns which level of the key the expression is.
func (f *finder) level(e sql.Expr, in *names) (int, bool) {
	root, inside, ok := sql.ResolvePath(e)
	if !ok {
		return 0, false
	}
	steps, known := in.find(root)
	if !known {
		return 0, false
	}
	steps = append(steps[:len(steps):len(steps)], inside...)
	for level, path := range f.paths {
		if slices.EqualFunc(steps, path, func(s sql.Step, name string) bool { return !s.Element && s.Name == name }) {
			return level, true
		}
	}
	return 0, false
}

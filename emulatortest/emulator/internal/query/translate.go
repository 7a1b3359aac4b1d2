package query

import (
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// translator turns conditions of the language into those of an index. What it gives may hold of more items than the
// condition, never of fewer.
type translator struct {
	root       string
	parameters map[string]value.Value
	allowed    func(path []string) bool
}

// path is the path of a property of the item whose index may be used.
func (t *translator) path(e sql.Expr) (index.Path, bool) {
	root, steps, ok := sql.ResolvePath(e)
	if !ok || root != t.root || len(steps) == 0 {
		return nil, false
	}
	for _, s := range steps {
		if s.Element || s.Name == index.Element {
			return nil, false
		}
	}
	path := stepNames(steps)
	return path, t.allowed(path)
}

// constant is the value of a literal or parameter, or of an array of such.
func (t *translator) constant(e sql.Expr) (value.Value, bool) {
	switch e := e.(type) {
	case *sql.Literal:
		return e.Value, true
	case *sql.Parameter:
		return t.parameters[e.Name], true
	case *sql.Unary:
		v, ok := t.constant(e.Operand)
		f, isNumber := v.Number()
		return value.FromNumber(-f), ok && isNumber && e.Op == sql.Negate
	case *sql.ArrayExpr:
		elements := make([]value.Value, len(e.Elements))
		for i, element := range e.Elements {
			v, ok := t.constant(element)
			if !ok {
				return value.Value{}, false
			}
			elements[i] = v
		}
		return value.FromArray(elements), true
	}
	return value.Value{}, false
}

// conditions lists conditions of which one holds whenever the expression does.
func (t *translator) conditions(e sql.Expr) ([]index.Condition, bool) {
	switch e := e.(type) {
	case *sql.Binary:
		return t.binary(e)
	case *sql.In:
		return t.in(e)
	case *sql.Between:
		return t.between(e)
	case *sql.Like:
		return t.like(e)
	case *sql.Call:
		return t.call(e)
	case *sql.Identifier, *sql.Member: // the property is true
		if path, ok := t.path(e); ok {
			return same(path, nil, index.Equal(value.FromBool(true))), true
		}
	}
	return nil, false
}

func one(path index.Path, ranges ...index.Range) []index.Condition {
	return []index.Condition{{Path: path, Ranges: ranges}}
}

// same is one whose ranges hold exactly what the query's condition does, if all constants in it are known to indexes.
func same(path index.Path, constants []value.Value, ranges ...index.Range) []index.Condition {
	return []index.Condition{{Path: path, Ranges: ranges, Same: !slices.ContainsFunc(constants, func(v value.Value) bool { return !index.Exact(v) })}}
}

func (t *translator) binary(e *sql.Binary) ([]index.Condition, bool) {
	switch e.Op {
	case sql.Or:
		left, ok := t.conditions(e.Left)
		if !ok {
			return nil, false
		}
		right, ok := t.conditions(e.Right)
		return append(left, right...), ok
	case sql.And: // either side is enough
		if left, ok := t.conditions(e.Left); ok {
			return left, true
		}
		return t.conditions(e.Right)
	default:
	}
	op := e.Op
	path, ok := t.path(e.Left)
	other := e.Right
	if !ok {
		path, ok = t.path(e.Right)
		other, op = e.Left, mirrored(e.Op)
	}
	v, isConstant := t.constant(other)
	if !ok || !isConstant {
		return nil, false
	}
	if v.IsUndefined() { // true of no item
		return nil, op == sql.Equals || op == sql.Less || op == sql.LessOrEqual || op == sql.Greater || op == sql.GreaterOrEqual
	}
	switch op {
	case sql.Equals:
		return same(path, []value.Value{v}, index.Equal(v)), true
	case sql.Less, sql.LessOrEqual:
		return same(path, []value.Value{v}, exactly(v, index.Under(v, op == sql.LessOrEqual))), true
	case sql.Greater, sql.GreaterOrEqual:
		return same(path, []value.Value{v}, exactly(v, index.Above(v, op == sql.GreaterOrEqual))), true
	default:
		return nil, false
	}
}

// exactly widens a range over arrays or objects, which an index does not tell apart, to all of them.
func exactly(v value.Value, r index.Range) index.Range {
	if !index.Exact(v) {
		return index.OfKind(v.Kind())
	}
	return r
}

// mirrored is the operator that says the same with its operands exchanged.
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

func (t *translator) in(e *sql.In) ([]index.Condition, bool) {
	path, ok := t.path(e.Operand)
	if !ok || e.Not {
		return nil, false
	}
	var list []value.Value
	for _, element := range e.List {
		v, ok := t.constant(element)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return same(path, list, equalities(slices.Clone(list))...), true
}

// equalities are the ranges of some values, each once.
func equalities(list []value.Value) []index.Range {
	list = slices.DeleteFunc(list, value.Value.IsUndefined)
	slices.SortFunc(list, index.Compare)
	list = slices.CompactFunc(list, func(a, b value.Value) bool { return index.Compare(a, b) == 0 })
	ranges := make([]index.Range, len(list))
	for i, v := range list {
		ranges[i] = index.Equal(v)
	}
	return ranges
}

func (t *translator) between(e *sql.Between) ([]index.Condition, bool) {
	path, ok := t.path(e.Operand)
	low, okLow := t.constant(e.Low)
	high, okHigh := t.constant(e.High)
	if !ok || !okLow || !okHigh || e.Not || low.Kind() != high.Kind() || !index.Exact(low) {
		return nil, false
	}
	r := index.Above(low, true)
	r.To = index.Under(high, true).To
	return same(path, nil, r), true
}

// like uses what stands before the first wildcard.
func (t *translator) like(e *sql.Like) ([]index.Condition, bool) {
	path, ok := t.path(e.Operand)
	v, isConstant := t.constant(e.Pattern)
	pattern, isText := v.Str()
	if !ok || !isConstant || !isText || e.Not {
		return nil, false
	}
	start := pattern
	if i := strings.IndexAny(pattern, "%_[]^\\"); i >= 0 {
		start = pattern[:i]
	}
	if e.Escape != 0 {
		start, _, _ = strings.Cut(start, string(e.Escape))
	}
	if start == "" {
		return nil, false
	}
	return one(path, index.Prefix(start)), true
}

func (t *translator) call(e *sql.Call) ([]index.Condition, bool) {
	if e.UserDefined || len(e.Args) == 0 {
		return nil, false
	}
	name := strings.ToUpper(e.Name)
	if kind, ok := kindTests()[name]; ok && len(e.Args) == 1 {
		if path, ok := t.path(e.Args[0]); ok {
			return same(path, nil, index.OfKind(kind)), true
		}
		return nil, false
	}
	switch name {
	case "STARTSWITH":
		return t.startsWith(e)
	case "ARRAY_CONTAINS":
		return t.arrayContains(e)
	case "STRINGEQUALS":
		path, ok := t.path(e.Args[0])
		if !ok || len(e.Args) != 2 {
			return nil, false
		}
		v, ok := t.constant(e.Args[1])
		if v.Kind() != value.String {
			return nil, false
		}
		return one(path, index.Equal(v)), ok
	}
	return nil, false
}

// kindTests are the functions that are true of all values of a kind.
func kindTests() map[string]value.Kind {
	return map[string]value.Kind{
		"IS_NULL": value.Null, "IS_BOOL": value.Bool, "IS_NUMBER": value.Number, "IS_STRING": value.String,
		"IS_ARRAY": value.Array, "IS_OBJECT": value.Object,
	}
}

func (t *translator) startsWith(e *sql.Call) ([]index.Condition, bool) {
	path, ok := t.path(e.Args[0])
	if !ok || len(e.Args) < 2 {
		return nil, false
	}
	v, ok := t.constant(e.Args[1])
	start, isText := v.Str()
	if !ok || !isText || start == "" {
		return nil, false
	}
	if len(e.Args) > 2 {
		if ignoreCase, ok := t.constant(e.Args[2]); !ok || !value.Equal(ignoreCase, value.FromBool(false)) {
			return nil, false
		}
	}
	return same(path, nil, index.Prefix(start)), true
}

// arrayContains serves ARRAY_CONTAINS(c.list, constant), and ARRAY_CONTAINS(@list, c.x), which is c.x IN (...).
func (t *translator) arrayContains(e *sql.Call) ([]index.Condition, bool) {
	if len(e.Args) != 2 {
		return nil, false
	}
	if path, ok := t.path(e.Args[0]); ok {
		v, ok := t.constant(e.Args[1])
		elements := append(slices.Clone(path), index.Element)
		if !ok || v.IsUndefined() || !t.allowed(elements) {
			return nil, false
		}
		return same(elements, []value.Value{v}, index.Equal(v)), true
	}
	path, ok := t.path(e.Args[1])
	v, isConstant := t.constant(e.Args[0])
	list, isArray := v.Array()
	if !ok || !isConstant || !isArray {
		return nil, false
	}
	return one(path, equalities(slices.Clone(list))...), true
}

package plan

import (
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// maxLevels is the greatest number of paths of a hierarchical partition key.
const maxLevels = 3

// maxCases bounds how many combinations of key values are followed. A query with more is taken to concern any key, which
// costs time and changes no result.
const maxCases = 20_000

// maxWork bounds how many combinations are tried in all. Beyond it nothing more is learned of a query's keys.
const maxWork = 1_000_000

// Keys are the partition key values for which a query's WHERE clause can be true. There may be more of them than there are
// with results, never fewer.
type Keys struct {
	// Any is set when nothing is known: every partition is concerned.
	Any bool
	// Prefixes holds one key for each alternative: all levels, or the first few. None at all means that the clause
	// contradicts itself. It is nil when Any is set.
	Prefixes [][]epk.Component
}

// KeysOf finds what a query's WHERE clause says of the container's partition key, whose paths are given as member names,
// one list to a level. It understands equality, IN, IS_NULL and NOT IS_DEFINED on those paths, under AND and OR.
func KeysOf(q *sql.Query, parameters map[string]value.Value, paths [][]string) Keys {
	root, ok := itemBinding(q)
	if !ok || q.Where == nil || len(paths) == 0 {
		return Keys{Any: true}
	}
	f := finder{root: root, parameters: parameters, paths: paths[:min(len(paths), maxLevels)]}
	return f.prefixes(f.find(q.Where))
}

// itemBinding returns the name under which a query sees the container's whole item.
func itemBinding(q *sql.Query) (string, bool) {
	if q.From == nil {
		return "", false
	}
	s, ok := q.From.Sources[0].(*sql.PathSource)
	if !ok || !s.Path.Container || len(s.Path.Steps) > 0 {
		return "", false
	}
	return s.Binding(), true
}

type finder struct {
	root       string
	parameters map[string]value.Value
	paths      [][]string
	work       int // combinations tried so far
}

// assignment fixes some levels of a key.
type assignment struct {
	fixed [maxLevels]bool
	at    [maxLevels]epk.Component
}

// cases are alternatives; any means that nothing is known, and no alternatives mean a contradiction.
type cases struct {
	any  bool
	list []assignment
}

func (f *finder) find(e sql.Expr) cases {
	switch e := e.(type) {
	case *sql.Binary:
		switch e.Op {
		case sql.And:
			return f.all(operands(e))
		case sql.Or:
			return f.either(operands(e))
		case sql.Equals:
			return f.equals(e.Left, e.Right)
		default:
		}
	case *sql.In:
		if !e.Not {
			return f.in(e)
		}
	case *sql.Call:
		if level, ok := f.argument(e, "IS_NULL"); ok {
			return one(level, epk.Null())
		}
	case *sql.Unary:
		if call, ok := e.Operand.(*sql.Call); ok && e.Op == sql.Not {
			if level, ok := f.argument(call, "IS_DEFINED"); ok {
				return one(level, epk.Undefined())
			}
		}
	case *sql.Literal:
		if holds, ok := e.Value.Bool(); !ok || !holds {
			return cases{}
		}
	default:
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

func one(level int, c epk.Component) cases {
	a := assignment{}
	a.fixed[level], a.at[level] = true, c
	return cases{list: []assignment{a}}
}

func (f *finder) argument(call *sql.Call, name string) (level int, ok bool) {
	if call.UserDefined || call.Name != name || len(call.Args) != 1 {
		return 0, false
	}
	return f.level(call.Args[0])
}

// level returns which level of the key the expression is.
func (f *finder) level(e sql.Expr) (int, bool) {
	root, steps, ok := sql.ResolvePath(e)
	if !ok || root != f.root {
		return 0, false
	}
next:
	for level, path := range f.paths {
		if len(path) != len(steps) {
			continue
		}
		for i, step := range steps {
			if step.Element || step.Name != path[i] {
				continue next
			}
		}
		return level, true
	}
	return 0, false
}

// constant returns the value of an expression that is the same for every item, as far as it can be part of a key.
func (f *finder) constant(e sql.Expr) (epk.Component, bool) {
	switch e := e.(type) {
	case *sql.Literal:
		return Component(e.Value)
	case *sql.Parameter:
		v, ok := f.parameters[e.Name]
		if !ok {
			return epk.Component{}, false
		}
		return Component(v)
	case *sql.Unary:
		if c, ok := f.constant(e.Operand); ok && e.Op == sql.Negate {
			if n, isNumber := c.AsNumber(); isNumber {
				return Component(value.FromNumber(-n))
			}
		}
	default:
	}
	return epk.Component{}, false
}

// Component returns the value as part of a partition key, and whether it can be one: null, a Boolean, a number or a string.
// Undefined is none here, since no comparison with it is ever true.
func Component(v value.Value) (epk.Component, bool) {
	switch v.Kind() {
	case value.Null:
		return epk.Null(), true
	case value.Bool:
		b, _ := v.Bool()
		return epk.Bool(b), true
	case value.Number:
		n, _ := v.Number()
		return epk.Number(n + 0), true // -0 becomes 0
	case value.String:
		s, _ := v.Str()
		return epk.String(s), true
	case value.Undefined, value.Array, value.Object:
	}
	return epk.Component{}, false
}

func (f *finder) equals(left, right sql.Expr) cases {
	level, ok := f.level(left)
	other := right
	if !ok {
		level, ok = f.level(right)
		other = left
	}
	if ok {
		if c, isConstant := f.constant(other); isConstant {
			return one(level, c)
		}
	}
	return cases{any: true}
}

func (f *finder) in(e *sql.In) cases {
	level, ok := f.level(e.Operand)
	if !ok {
		return cases{any: true}
	}
	found := cases{}
	for _, item := range e.List {
		c, isConstant := f.constant(item)
		if !isConstant {
			return cases{any: true}
		}
		found.list = append(found.list, one(level, c).list...)
	}
	return found
}

func (f *finder) either(list []sql.Expr) cases {
	union := cases{}
	seen := map[assignment]bool{}
	for _, e := range list {
		c := f.find(e)
		if c.any || len(union.list)+len(c.list) > maxCases {
			return cases{any: true}
		}
		for _, a := range c.list {
			if !seen[a] {
				seen[a] = true
				union.list = append(union.list, a)
			}
		}
	}
	return union
}

func (f *finder) all(list []sql.Expr) cases {
	product := cases{any: true}
	for _, e := range list {
		product = f.both(product, f.find(e))
	}
	return product
}

// both combines alternatives. Where there would be too many of them it keeps one side's, which hold as well.
func (f *finder) both(a, b cases) cases {
	work := len(a.list) * len(b.list)
	switch {
	case a.any:
		return b
	case b.any:
		return a
	case (work > maxCases || f.work+work > maxWork) && len(a.list) <= len(b.list):
		return a
	case work > maxCases || f.work+work > maxWork:
		return b
	}
	f.work += work
	product := cases{}
	for _, x := range a.list {
		for _, y := range b.list {
			if z, ok := merge(x, y); ok {
				product.list = append(product.list, z)
			}
		}
	}
	return product
}

func merge(x, y assignment) (assignment, bool) {
	for level := range y.fixed {
		switch {
		case !y.fixed[level]:
		case x.fixed[level] && x.at[level] != y.at[level]:
			return x, false
		default:
			x.fixed[level], x.at[level] = true, y.at[level]
		}
	}
	return x, true
}

// prefixes keeps of each alternative the levels up to the first that is open.
func (f *finder) prefixes(c cases) Keys {
	if c.any {
		return Keys{Any: true}
	}
	keys := Keys{}
	seen := map[assignment]bool{}
	for _, a := range c.list {
		prefix := assignment{}
		n := 0
		for n < len(f.paths) && a.fixed[n] {
			prefix.fixed[n], prefix.at[n] = true, a.at[n]
			n++
		}
		if n == 0 {
			return Keys{Any: true}
		}
		if !seen[prefix] {
			seen[prefix] = true
			keys.Prefixes = append(keys.Prefixes, append([]epk.Component(nil), prefix.at[:n]...))
		}
	}
	return keys
}

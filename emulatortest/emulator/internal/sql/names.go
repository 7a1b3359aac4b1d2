package sql

import (
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Names returns the property name of each item of a [SelectList], in order: the alias, else the last member name of a
// path (c.a.b gives b, c alone gives c), else $1, $2 and so on, counting the unnamed items only. For the other kinds it
// returns nil.
func (s *SelectSpec) Names() []string {
	if s.Kind != SelectList {
		return nil
	}
	names := make([]string, len(s.Items))
	unnamed := 0
	for i, item := range s.Items {
		name := item.Alias
		if name == "" {
			name = impliedName(item.Expr)
		}
		if name == "" {
			unnamed++
			name = "$" + strconv.Itoa(unnamed)
		}
		names[i] = name
	}
	return names
}

// impliedName returns the name that an expression brings along; empty for anything but a path, or a member of a
// subquery, that ends in a name.
func impliedName(e Expr) string {
	switch e := e.(type) {
	case *Identifier:
		return e.Name
	case *Member:
		if _, ok := e.Object.(*ScalarSubquery); ok || isPath(e.Object) {
			return e.Name
		}
	}
	return ""
}

// isPath reports whether the expression is a bound name followed by member names and constant element numbers.
func isPath(e Expr) bool {
	_, _, ok := ResolvePath(e)
	return ok
}

// ResolvePath takes apart an expression that is a bound name followed by member names and constant element numbers:
// c.a["b"][0] gives c and its three steps. It reports false for any other expression.
func ResolvePath(e Expr) (root string, steps []Step, ok bool) {
	switch e := e.(type) {
	case *Identifier:
		return e.Name, nil, true
	case *Member:
		root, steps, ok = ResolvePath(e.Object)
		return root, append(steps, Step{Name: e.Name, Bracketed: e.Bracketed}), ok
	case *Index:
		literal, isLiteral := e.Index.(*Literal)
		if !isLiteral {
			return "", nil, false
		}
		at, isIndex := elementNumber(literal.Value)
		root, steps, ok = ResolvePath(e.Object)
		return root, append(steps, Step{Index: at, Element: true}), ok && isIndex
	}
	return "", nil, false
}

// elementNumber returns the number as a count from 0, and whether it is one.
func elementNumber(v value.Value) (int32, bool) {
	f, ok := v.Number()
	if !ok || f < 0 || f > maxCount || f != float64(int32(f)) {
		return 0, false
	}
	return int32(f), true
}

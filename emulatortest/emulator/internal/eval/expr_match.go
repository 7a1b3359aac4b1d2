package eval

import (
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// in looks for the operand in the list; a value of another type is simply not the one.
func (c *compiler) in(e *sql.In, in *scope) node {
	operand, list := c.expr(e.Operand, in), c.exprs(e.List, in)
	// A long list of constants is looked up by hash: clients ask for a thousand items by their ids.
	const few = 8
	fixed := len(list) > few && !slices.ContainsFunc(e.List, func(item sql.Expr) bool { return !isConstant(item) })
	return negated(e.Not, func(r *run) value.Value {
		x := operand(r)
		if x.IsUndefined() {
			return x
		}
		if fixed {
			if !r.walks(x) {
				return value.Value{}
			}
			found := r.constants(e, list).has(x)
			return value.FromBool(found)
		}
		for _, n := range list {
			y := n(r)
			if !r.compares(x, y) {
				return value.Value{}
			}
			if value.Equal(x, y) {
				return value.FromBool(true)
			}
		}
		return value.FromBool(false)
	})
}

func isConstant(e sql.Expr) bool {
	switch e.(type) {
	case *sql.Literal, *sql.Parameter:
		return true
	}
	return false
}

// constants returns the values of a list that is the same for every row.
func (r *run) constants(e *sql.In, list []node) *Set {
	values, ok := r.lists[e]
	if !ok {
		values = NewSet()
		for _, n := range list {
			if v := n(r); r.walks(v) && r.keep(SetBytes) {
				values.Add(v)
			}
		}
		if r.lists == nil {
			r.lists = make(map[*sql.In]*Set)
		}
		r.lists[e] = values
	}
	return values
}

func (c *compiler) between(e *sql.Between, in *scope) node {
	operand, low, high := c.expr(e.Operand, in), c.expr(e.Low, in), c.expr(e.High, in)
	atLeast, atMost := comparison(sql.GreaterOrEqual), comparison(sql.LessOrEqual)
	return negated(e.Not, func(r *run) value.Value {
		x, from, to := operand(r), low(r), high(r)
		if !r.compares(x, from) || !r.compares(x, to) {
			return value.Value{}
		}
		return and(atLeast(x, from), atMost(x, to))
	})
}

func (c *compiler) like(e *sql.Like, in *scope) node {
	operand, pattern := c.expr(e.Operand, in), c.expr(e.Pattern, in)
	var fixed *likePattern
	if literal, ok := e.Pattern.(*sql.Literal); ok {
		if text, isString := literal.Value.Str(); isString {
			fixed = parseLike(text, e.Escape)
		}
	}
	return negated(e.Not, func(r *run) value.Value {
		s, ok := operand(r).Str()
		if !ok {
			return value.Value{}
		}
		p := fixed
		if p == nil {
			text, isString := pattern(r).Str()
			if !isString {
				return value.Value{}
			}
			if !r.hold(likeBytes(text)) {
				return value.Value{}
			}
			p = parseLike(text, e.Escape)
		}
		if !r.work(len(s) + len(p.parts)) {
			return value.Value{}
		}
		return value.FromBool(p.match(r, s))
	})
}

func negated(negate bool, n node) node {
	if !negate {
		return n
	}
	return func(r *run) value.Value { return not(n(r)) }
}

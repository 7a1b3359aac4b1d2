package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// expr compiles an expression. One that GROUP BY has computed already is read from its slot.
func (c *compiler) expr(e sql.Expr, in *scope) node {
	if slot, ok := c.grouped(e, in); ok {
		return func(r *run) value.Value { return r.slots[slot] }
	}
	switch e := e.(type) {
	case *sql.Literal:
		v := e.Value
		return func(*run) value.Value { return v }
	case *sql.Parameter:
		name := e.Name
		return func(r *run) value.Value { return r.env.Parameters[name] }
	case *sql.Identifier:
		slot, ok := in.find(e.Name)
		if !ok {
			return c.refuse(e.Location, sql.CodeUnresolved, "Identifier '"+e.Name+"' could not be resolved.")
		}
		return func(r *run) value.Value { return r.slots[slot] }
	case *sql.Member:
		object, name := c.expr(e.Object, in), e.Name
		return func(r *run) value.Value { return object(r).Get(name) }
	case *sql.Index:
		return c.index(e, in)
	case *sql.Unary:
		return c.unary(e, in)
	case *sql.Binary:
		return c.binary(e, in)
	case *sql.Conditional:
		return c.conditional(e, in)
	case *sql.In:
		return c.in(e, in)
	case *sql.Between:
		return c.between(e, in)
	case *sql.Like:
		return c.like(e, in)
	case *sql.Call:
		return c.call(e, in)
	case *sql.ObjectExpr:
		return c.object(e, in)
	case *sql.ArrayExpr:
		return c.array(e, in)
	case *sql.Exists:
		return c.exists(e, in)
	case *sql.ArraySubquery:
		return c.arraySubquery(e, in)
	case *sql.ScalarSubquery:
		return c.scalarSubquery(e, in)
	}
	return c.fail(unsupported(fmt.Sprintf("this expression (%T)", e)))
}

// grouped returns the slot of an expression that GROUP BY has. Only expressions of the right size are printed to compare
// them, since printing every part of a long chain would take time by the square of its length.
func (c *compiler) grouped(e sql.Expr, in *scope) (slot int, ok bool) {
	if len(in.grouped) == 0 || !in.groupSizes[c.size(e)] {
		return 0, false
	}
	slot, ok = in.grouped[sql.Canonical(e)]
	return slot, ok
}

// size is the number of nodes of an expression.
func (c *compiler) size(e sql.Expr) int {
	if n, seen := c.sizes[e]; seen {
		return n
	}
	n, inside := 1, false
	sql.Walk(e, func(child sql.Expr) bool {
		if !inside {
			inside = true
			return true
		}
		n += c.size(child)
		return false
	})
	c.sizes[e] = n
	return n
}

func (c *compiler) exprs(list []sql.Expr, in *scope) []node {
	nodes := make([]node, len(list))
	for i, e := range list {
		nodes[i] = c.expr(e, in)
	}
	return nodes
}

func (c *compiler) index(e *sql.Index, in *scope) node {
	object, index := c.expr(e.Object, in), c.expr(e.Index, in)
	return func(r *run) value.Value {
		at := index(r)
		if name, ok := at.Str(); ok {
			return object(r).Get(name)
		}
		if i, ok := position(at); ok {
			return object(r).Index(i)
		}
		return value.Value{}
	}
}

func (c *compiler) unary(e *sql.Unary, in *scope) node {
	operand := c.expr(e.Operand, in)
	number := func(f func(float64) value.Value) node {
		return func(r *run) value.Value {
			x, ok := operand(r).Number()
			if !ok {
				return value.Value{}
			}
			return f(x)
		}
	}
	switch e.Op {
	case sql.Not:
		return func(r *run) value.Value { return not(operand(r)) }
	case sql.Negate:
		return number(func(x float64) value.Value { return value.FromNumber(-x) })
	case sql.Plus:
		return number(value.FromNumber)
	case sql.Complement:
		return func(r *run) value.Value {
			x, ok := integer(operand(r))
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(^int32(x)))
		}
	}
	return c.fail(unsupported("the operator " + string(e.Op)))
}

func (c *compiler) binary(e *sql.Binary, in *scope) node {
	if e.Op == sql.Concat {
		return c.concatenation(e, in)
	}
	left, right := c.expr(e.Left, in), c.expr(e.Right, in)
	switch e.Op {
	case sql.And: // the right operand of a false AND and of a true OR is not evaluated
		return func(r *run) value.Value {
			x := left(r)
			if isFalse(x) {
				return x
			}
			return and(x, right(r))
		}
	case sql.Or:
		return func(r *run) value.Value {
			x := left(r)
			if isTrue(x) {
				return x
			}
			return or(x, right(r))
		}
	case sql.Coalesce:
		return func(r *run) value.Value {
			if x := left(r); !x.IsUndefined() {
				return x
			}
			return right(r)
		}
	case sql.Equals, sql.NotEquals, sql.Less, sql.LessOrEqual, sql.Greater, sql.GreaterOrEqual:
		compare := comparison(e.Op)
		return func(r *run) value.Value {
			x, y := left(r), right(r)
			if !r.compares(x, y) {
				return value.Value{}
			}
			return compare(x, y)
		}
	default:
		compute := arithmetic(e.Op)
		if compute == nil {
			return c.fail(unsupported("the operator " + string(e.Op)))
		}
		return func(r *run) value.Value { return compute(left(r), right(r)) }
	}
}

// concatenation joins a whole chain of || at once: pair by pair would take time by the square of its length.
func (c *compiler) concatenation(e *sql.Binary, in *scope) node {
	var parts []sql.Expr
	var chain sql.Expr = e
	for {
		b, ok := chain.(*sql.Binary)
		if _, isGrouped := c.grouped(chain, in); !ok || b.Op != sql.Concat || isGrouped {
			break
		}
		parts = append(parts, b.Right)
		chain = b.Left
	}
	parts = append(parts, chain)
	slices.Reverse(parts)
	nodes := c.exprs(parts, in)
	return func(r *run) value.Value {
		values := make([]value.Value, len(nodes))
		for i, n := range nodes {
			values[i] = n(r)
		}
		return concat(r, values)
	}
}

func (c *compiler) conditional(e *sql.Conditional, in *scope) node {
	test, then, otherwise := c.expr(e.Test, in), c.expr(e.Then, in), c.expr(e.Else, in)
	return func(r *run) value.Value {
		switch yes, isBool := test(r).Bool(); {
		case !isBool:
			return value.Value{}
		case yes:
			return then(r)
		}
		return otherwise(r)
	}
}

func (c *compiler) call(e *sql.Call, in *scope) node {
	if e.UserDefined {
		return c.userDefined(e, in)
	}
	b, ok := builtins[strings.ToUpper(e.Name)]
	switch {
	case !ok:
		return c.refuse(e.Location, sql.CodeUnknownFunction, "'"+e.Name+"' is not a recognized built-in function name.")
	case len(e.Args) < b.least || b.most >= 0 && len(e.Args) > b.most:
		return c.refuse(e.Location, sql.CodeArity, fmt.Sprintf("The %s function requires %s argument(s).", b.name, b.arity()))
	}
	if create := newAccumulator(b.name); create != nil {
		return c.aggregate(e, create, in)
	}
	if b.call == nil {
		return c.fail(unsupported("the function " + b.name))
	}
	if b.name == sql.VectorDistance || b.name == sql.PartialVectorScore {
		b.call = c.vectorCall(e)
	}
	args, cost := c.exprs(e.Args, in), debitOf(b.name)
	return func(r *run) value.Value {
		values := make([]value.Value, len(args))
		for i, n := range args {
			values[i] = n(r)
		}
		if !cost.take(r, values) {
			return value.Value{}
		}
		return b.call(r, values)
	}
}

func (b *builtin) arity() string {
	switch {
	case b.most < 0:
		return fmt.Sprintf("at least %d", b.least)
	case b.least == b.most:
		return strconv.Itoa(b.least)
	}
	return fmt.Sprintf("%d to %d", b.least, b.most)
}

// aggregate gives the call a slot, which holds the group's result when SELECT is evaluated.
func (c *compiler) aggregate(e *sql.Call, create func() accumulator, in *scope) node {
	if in.folded == nil {
		return c.refuse(e.Location, sql.CodeNestedAggregate, "The aggregate function "+e.Name+" is not allowed here.")
	}
	slot := c.slot()
	// The argument is about single rows: it sees neither the groups' keys nor other aggregates.
	argument := c.expr(e.Args[0], &scope{outer: in})
	in.folded.aggregates = append(in.folded.aggregates, foldAggregate{slot: slot, argument: argument, create: create})
	return func(r *run) value.Value { return r.slots[slot] }
}

func (c *compiler) object(e *sql.ObjectExpr, in *scope) node {
	nodes := make([]node, len(e.Members))
	for i, m := range e.Members {
		nodes[i] = c.expr(m.Value, in)
	}
	return func(r *run) value.Value {
		if !r.hold(objectBytes(len(nodes))) {
			return value.Value{}
		}
		members := make([]value.Member, len(nodes))
		for i, n := range nodes {
			members[i] = value.Member{Name: e.Members[i].Name, Value: n(r)}
		}
		return value.FromObject(members)
	}
}

func (c *compiler) array(e *sql.ArrayExpr, in *scope) node {
	nodes := c.exprs(e.Elements, in)
	return func(r *run) value.Value {
		if !r.hold(arrayBytes(len(nodes))) {
			return value.Value{}
		}
		elements := make([]value.Value, len(nodes))
		for i, n := range nodes {
			elements[i] = n(r)
		}
		return value.FromArray(elements)
	}
}

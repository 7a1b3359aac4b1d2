package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// rows binds names and calls yield for each combination. It returns false once yield has, or once the run has failed.
type rows func(r *run, yield func() bool) bool

// block is a compiled query or subquery.
type block struct {
	rows     rows // FROM, JOIN and WHERE
	fold     *fold
	project  node // SELECT, over a row or over a group
	distinct bool
	whole    bool
}

// block compiles a query whose outer names are in the scope. It returns the scope of its SELECT and ORDER BY as well.
func (c *compiler) block(q *sql.Query, outer *scope) (*block, *scope) {
	inner := &scope{outer: outer}
	b := &block{distinct: q.Select.Distinct}
	b.rows = func(_ *run, yield func() bool) bool { return yield() }
	first := itemSlot
	if q.From != nil {
		for i, source := range q.From.Sources {
			slot, bound := c.source(source, inner)
			if i == 0 {
				first, b.rows = slot, bound
				continue
			}
			b.rows = nested(b.rows, bound)
		}
	}
	if q.Where != nil {
		b.rows = filtered(b.rows, c.expr(q.Where, inner), perNode*c.size(q.Where))
	}
	if q.Aggregates() {
		b.fold = &fold{}
		inner.folded = b.fold
		inner.grouped, inner.groupSizes = make(map[string]int), make(map[int]bool)
		for _, e := range q.GroupBy {
			slot := c.slot()
			// The key is compiled as an ordinary expression: its own text isn't in grouped yet.
			b.fold.keys = append(b.fold.keys, foldKey{slot: slot, node: c.expr(e, &scope{outer: inner})})
			inner.grouped[sql.Canonical(e)] = slot
			inner.groupSizes[c.size(e)] = true
		}
	}
	b.project = c.projection(&q.Select, inner, first)
	b.whole = b.fold == nil && selectsItem(q)
	return b, inner
}

// selectsItem reports whether the result is the container's item itself: SELECT * FROM c, or SELECT VALUE c FROM c.
func selectsItem(q *sql.Query) bool {
	if q.From == nil || len(q.From.Sources) != 1 {
		return false
	}
	source, ok := q.From.Sources[0].(*sql.PathSource)
	if !ok || !source.Path.Container || len(source.Path.Steps) > 0 {
		return false
	}
	if q.Select.Kind == sql.SelectStar {
		return true
	}
	if q.Select.Kind != sql.SelectValue {
		return false
	}
	name, ok := q.Select.Items[0].Expr.(*sql.Identifier)
	return ok && name.Name == source.Binding()
}

func nested(outer, inner rows) rows {
	return func(r *run, yield func() bool) bool {
		return outer(r, func() bool { return inner(r, yield) })
	}
}

// perNode is about how many steps each part of an expression takes.
const perNode = 8

func filtered(in rows, test node, steps int) rows {
	return func(r *run, yield func() bool) bool {
		return in(r, func() bool {
			mark := r.meter.Mark()
			keep := isTrue(test(r))
			r.meter.Drop(mark)
			if !r.work(steps) {
				return false
			}
			return !keep || yield()
		})
	}
}

// projection compiles SELECT. A row without a result is undefined.
func (c *compiler) projection(s *sql.SelectSpec, in *scope, first int) node {
	switch s.Kind {
	case sql.SelectStar:
		return func(r *run) value.Value { return r.slots[first] }
	case sql.SelectValue:
		return c.expr(s.Items[0].Expr, in)
	case sql.SelectList:
	}
	names := s.Names()
	nodes := make([]node, len(s.Items))
	for i, item := range s.Items {
		nodes[i] = c.expr(item.Expr, in)
	}
	return func(r *run) value.Value {
		if !r.hold(objectBytes(len(nodes))) {
			return value.Value{}
		}
		members := make([]value.Member, len(nodes))
		for i, n := range nodes {
			members[i] = value.Member{Name: names[i], Value: n(r)}
		}
		return value.FromObject(members)
	}
}

// source compiles one input of FROM and returns the slot that it fills.
func (c *compiler) source(s sql.Source, in *scope) (slot int, bound rows) {
	slot = c.slot()
	switch s := s.(type) {
	case *sql.PathSource:
		path := c.path(&s.Path, in)
		bound = func(r *run, yield func() bool) bool {
			if r.slots[slot] = path(r); r.slots[slot].IsUndefined() {
				return r.err == nil
			}
			return r.step() && yield()
		}
	case *sql.IteratorSource:
		if s.Query != nil {
			bound = nested(c.subqueryRows(s.Query, in, slot), elements(slot, slot))
			break
		}
		path, temporary := c.path(s.Path, in), c.slot()
		each := elements(temporary, slot)
		bound = func(r *run, yield func() bool) bool {
			r.slots[temporary] = path(r)
			return each(r, yield)
		}
	case *sql.SubquerySource:
		bound = c.subqueryRows(s.Query, in, slot)
	}
	in.bind(s.Binding(), slot)
	return slot, bound
}

// elements binds each element of the array in one slot to another.
func elements(from, to int) rows {
	return func(r *run, yield func() bool) bool {
		list, _ := r.slots[from].Array()
		for _, e := range list {
			r.slots[to] = e
			if !r.step() || !yield() {
				return false
			}
		}
		return true
	}
}

// subqueryRows binds each result of a subquery to a slot.
func (c *compiler) subqueryRows(q *sql.Query, in *scope, slot int) rows {
	each := c.subquery(q, in)
	return func(r *run, yield func() bool) bool {
		return each(r, func(v value.Value) bool {
			r.slots[slot] = v
			return r.step() && yield()
		})
	}
}

// path compiles the path of a source.
func (c *compiler) path(p *sql.Path, in *scope) node {
	slot := itemSlot
	if !p.Container {
		found, ok := in.find(p.Root)
		if !ok {
			return c.refuse(sql.Location{}, sql.CodeUnresolved, "Identifier '"+p.Root+"' could not be resolved.")
		}
		slot = found
	}
	steps := p.Steps
	return func(r *run) value.Value {
		v := r.slots[slot]
		for _, s := range steps {
			if s.Element {
				v = v.Index(int(s.Index))
			} else {
				v = v.Get(s.Name)
			}
		}
		return v
	}
}

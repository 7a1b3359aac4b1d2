package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// results calls yield with each result of a subquery; it returns false once yield has. What yield doesn't retain is
// dropped after it.
type results func(r *run, yield func(value.Value) bool) bool

// subquery compiles a query inside another, which may refer to the names around it.
func (c *compiler) subquery(q *sql.Query, in *scope) results {
	b, _ := c.block(q, in)
	return func(r *run, yield func(value.Value) bool) bool {
		own := &retention{meter: r.meter}
		defer own.end()
		var seen *Set
		if b.distinct {
			seen = NewSet()
		}
		emit := func() bool {
			mark := r.meter.Mark()
			defer r.meter.Drop(mark)
			v := b.project(r)
			if v.IsUndefined() {
				return r.err == nil
			}
			if !r.walks(v) {
				return false
			}
			if seen != nil {
				if _, isNew := seen.add(v); !isNew {
					return true
				}
				if !own.note(func() bool { return r.keep(SetBytes + MemoryOf(v)) }) {
					return false
				}
			}
			return yield(v)
		}
		if b.fold == nil {
			return b.rows(r, emit)
		}
		state := b.fold.start()
		if !b.rows(r, func() bool { return own.note(func() bool { return state.add(r) }) }) {
			return false
		}
		for i := range state.groups {
			if state.load(r, i); !emit() {
				return false
			}
		}
		return true
	}
}

func (c *compiler) exists(e *sql.Exists, in *scope) node {
	each := c.subquery(e.Query, in)
	return func(r *run) value.Value {
		found := !each(r, func(value.Value) bool { return false })
		return value.FromBool(found && r.err == nil)
	}
}

// scalarSubquery is the first result of a subquery.
func (c *compiler) scalarSubquery(e *sql.ScalarSubquery, in *scope) node {
	each := c.subquery(e.Query, in)
	return func(r *run) value.Value {
		own := &retention{meter: r.meter}
		defer own.end()
		var result value.Value
		each(r, func(v value.Value) bool {
			own.note(func() bool { return r.keep(MemoryOf(v)) })
			result = v
			return false
		})
		return result
	}
}

// arraySubquery is the list of all results of a subquery.
func (c *compiler) arraySubquery(e *sql.ArraySubquery, in *scope) node {
	each := c.subquery(e.Query, in)
	return func(r *run) value.Value {
		own := &retention{meter: r.meter}
		defer own.end()
		var elements []value.Value
		each(r, func(v value.Value) bool {
			if !own.note(func() bool { return r.keep(elementBytes + MemoryOf(v)) }) {
				return false
			}
			elements = append(elements, v)
			return true
		})
		return value.FromArray(elements)
	}
}

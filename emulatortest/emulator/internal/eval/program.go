package eval

import (
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Program is a compiled query. It is immutable and may serve many runs at once.
type Program struct {
	query *block
	keys  []key
	slots int
	scans bool

	userDefined []string // the names of the functions that it calls
}

type key struct {
	node       node
	descending bool
}

// Compile prepares a parsed query for items of which nothing is known. The error is a [*sql.SyntaxError] for what the
// language forbids, or an [*Error] for what this evaluator refuses.
func Compile(q *sql.Query) (*Program, error) { return CompileFor(q, Schema{}) }

// CompileFor is like [Compile], for items of a schema.
func CompileFor(q *sql.Query, schema Schema) (*Program, error) {
	c := &compiler{slots: itemSlot + 1, sizes: make(map[sql.Expr]int), schema: schema, root: itemName(q)}
	if q.Rank != nil {
		return nil, unsupported("ORDER BY RANK without a query plan")
	}
	top := &scope{}
	b, inner := c.block(q, top)
	p := &Program{query: b, scans: q.From != nil}
	for _, item := range q.OrderBy {
		p.keys = append(p.keys, c.sortKey(item, inner))
	}
	p.slots, p.userDefined = c.slots, c.functions
	if c.err != nil {
		return nil, c.err
	}
	return p, nil
}

// Scans reports whether the query reads items at all. One that doesn't is run once, with [Run.Item] over undefined.
func (p *Program) Scans() bool { return p.scans }

// CallsUserDefined reports whether the query calls user-defined functions.
func (p *Program) CallsUserDefined() bool { return len(p.userDefined) > 0 }

// Folds reports whether rows are folded into groups, so that [Run.Groups] gives the result rather than [Run.Item].
func (p *Program) Folds() bool { return p.query.fold != nil }

// Distinct reports whether equal results are to be dropped.
func (p *Program) Distinct() bool { return p.query.distinct }

// Whole reports whether each row is an item as it is stored, so that its bytes can be handed on unchanged.
func (p *Program) Whole() bool { return p.query.whole }

// Keys is the number of ORDER BY keys, and whether each is descending.
func (p *Program) Keys() []bool {
	descending := make([]bool, len(p.keys))
	for i, k := range p.keys {
		descending[i] = k.descending
	}
	return descending
}

// Row is one row of the result. It is valid during the call it is passed to; [Row.Keep] makes it last.
type Row struct {
	run   *Run
	slots []value.Value
}

// Keep returns a copy of the row that stays valid while other rows are produced. Evaluate kept rows only after the last
// call of [Run.Item]: both use the run's slots.
func (r Row) Keep() Row {
	r.run.meter.Retain()
	r.run.keep(arrayBytes(len(r.run.slots)))
	r.slots = slices.Clone(r.run.slots)
	return r
}

// SortKeys evaluates the ORDER BY expressions.
func (r Row) SortKeys() []value.Value {
	r.restore()
	keys := make([]value.Value, len(r.run.program.keys))
	for i, k := range r.run.program.keys {
		keys[i] = k.node(&r.run.run)
	}
	return keys
}

// Value evaluates SELECT. It reports false when the row gives no result: SELECT VALUE of undefined.
func (r Row) Value() (value.Value, bool, error) {
	r.restore()
	v := r.run.program.query.project(&r.run.run)
	if !r.run.program.query.whole {
		r.run.walks(v)
	}
	return v, !v.IsUndefined(), r.run.err
}

func (r Row) restore() {
	if r.slots != nil {
		r.run.slots = r.slots
	}
}

// Item produces the rows of one item, in order, until yield returns false. It is for programs that don't fold.
func (r *Run) Item(item value.Value, yield func(Row) bool) error {
	r.slots[itemSlot] = item
	mark := r.meter.Mark()
	defer r.meter.Drop(mark)
	r.program.query.rows(&r.run, func() bool { return yield(Row{run: r}) })
	return r.err
}

// Groups collects the rows of many items. It is for programs that fold.
type Groups struct {
	run   *Run
	state *folding
}

// Groups begins folding.
func (r *Run) Groups() *Groups {
	return &Groups{run: r, state: r.program.query.fold.start()}
}

// Add folds the rows of one item in. The number is that of the first new group, or of the next one if none is new.
func (g *Groups) Add(item value.Value) (firstNew int, err error) {
	firstNew = len(g.state.groups)
	g.run.slots[itemSlot] = item
	mark := g.run.meter.Mark()
	defer g.run.meter.Drop(mark)
	g.run.program.query.rows(&g.run.run, func() bool { return g.state.add(&g.run.run) })
	return firstNew, g.run.err
}

// Len is the number of groups. Without GROUP BY it is one from the beginning.
func (g *Groups) Len() int { return len(g.state.groups) }

// Keys returns the values of the i-th group's grouping expressions.
func (g *Groups) Keys(i int) []value.Value { return g.state.groups[i].keys }

// Row returns the i-th group's row, in the order in which groups came up.
func (g *Groups) Row(i int) Row {
	g.state.load(&g.run.run, i)
	return Row{run: g.run}
}

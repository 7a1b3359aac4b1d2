package query

import (
	"iter"
	"math"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// IndexedSource is a source that may have indexes.
type IndexedSource interface {
	Source
	// Len is the number of items, or a little more.
	Len() int
	// Candidates is at most how many items meet one condition of each of the lists, as far as indexes tell; Len if they tell
	// nothing.
	Candidates(alternatives [][]index.Condition) int
	// Matching yields at least the items that meet one condition of each list, in the order of their rids and beginning after
	// the given one. all says that they will be read to the end.
	Matching(alternatives [][]index.Condition, afterRID string, all bool) iter.Seq[Item]
	// Ordered yields all items in that order or its opposite, ties by rid in the same direction, beginning at the keys and
	// the rid when keys is not nil. It reports false when there is no index for it.
	Ordered(o index.Order, reverse bool, keys []value.Value, rid string) (iter.Seq[Item], bool)
}

// read chooses how a page reads its source. It notes when items come in the order of ORDER BY.
func (e *execution) read(afterRID string) iter.Seq[Item] {
	source, ok := e.req.Source.(IndexedSource)
	if !ok {
		return e.req.Source.Items(afterRID)
	}
	a := PlanAccess(e.req.Query, e.req.Parameters, e.req.Policy, e.req.Computed)
	sorts := len(e.program.Keys()) > 0
	if keep, ok := e.keep(); ok && a.order != nil {
		matching := float64(source.Candidates(a.where))
		// Sorting what matches reads all that matches for each page. Reading in order passes over what does not match: for each
		// row about as many items as there are to one that matches.
		if matching*matching > float64(source.Len())*float64(keep) {
			var keys []value.Value
			rid := ""
			if e.from != nil {
				keys, rid = e.from.keys, e.from.rid
			}
			if items, ok := source.Ordered(a.order, a.reverse, keys, rid); ok {
				e.inOrder = true
				return items
			}
		}
	}
	if len(a.where) == 0 {
		return e.req.Source.Items(afterRID)
	}
	return source.Matching(a.where, afterRID, sorts || e.program.Folds())
}

// Access says what indexes could do for a query.
type Access struct {
	// where has a list for each condition of WHERE that indexes serve: an item of the result meets one condition of each.
	where [][]index.Condition
	// order is that of ORDER BY; nil when none serves it.
	order   index.Order
	reverse bool
}

// Orders are the indexes that the query could use.
func (a *Access) Orders() []index.Order {
	var orders []index.Order
	names := map[string]bool{}
	add := func(o index.Order) {
		if name := o.Name(); !names[name] {
			names[name] = true
			orders = append(orders, o)
		}
	}
	if a.order != nil {
		add(a.order)
	}
	for _, conditions := range a.where {
		for _, c := range conditions {
			add(index.By(c.Path))
		}
	}
	return orders
}

// PlanAccess finds what indexes that the policy allows could do for a query.
func PlanAccess(q *sql.Query, parameters map[string]value.Value, p *Policy, computed Computed) *Access {
	a := &Access{}
	root := rootName(q)
	if root == "" {
		return a
	}
	allowed := func(path []string) bool {
		return p.indexed(path) && !slices.ContainsFunc(computed, func(c computedProperty) bool { return c.name == path[0] })
	}
	t := &translator{root: root, parameters: parameters, allowed: allowed}
	if q.Where != nil {
		for _, e := range conjuncts(q.Where, nil) {
			if conditions, ok := t.conditions(e); ok {
				a.where = append(a.where, conditions)
			}
		}
	}
	a.orderBy(q, t)
	return a
}

// orderBy takes over an ORDER BY of properties. With several, the policy has been asked for a composite index before.
func (a *Access) orderBy(q *sql.Query, t *translator) {
	for _, item := range q.OrderBy {
		path, ok := t.path(item.Expr)
		if !ok {
			a.order = nil
			return
		}
		a.order = append(a.order, index.Key{Path: path, Descending: item.Descending})
	}
	if len(a.order) == 0 {
		return
	}
	// An index serves both directions, so it is named by the one in which the first key rises.
	if a.reverse = a.order[0].Descending; a.reverse {
		for i := range a.order {
			a.order[i].Descending = !a.order[i].Descending
		}
	}
}

// maxSortedRows bounds a sorted page whose size is left to the server, and what is sorted at a time for a page and those to come.
const maxSortedRows = 1 << 14

// keep is how many rows a sorted page needs: those to skip, its own, and one to begin the next page with. It reports false
// when it needs all.
func (e *execution) keep() (rows int, ok bool) {
	switch {
	case e.program.Distinct() || len(e.program.Keys()) == 0 || e.program.Folds():
		return math.MaxInt, false
	case e.req.MaxItems > 0:
		rows = e.req.MaxItems + 1
	case e.req.MaxBytes < math.MaxInt:
		rows = maxSortedRows
	default:
		return math.MaxInt, false
	}
	if e.caches() {
		rows = max(rows, maxSortedRows)
	}
	if e.take >= 0 {
		rows = min(rows, e.take+1)
	}
	return e.skip + rows, true
}

// gives reports whether a row has a result: SELECT VALUE of undefined has none. Such rows are not kept for a page, which would
// end early with them.
func (e *execution) gives(r eval.Row) bool {
	if e.req.Query.Select.Kind != sql.SelectValue {
		return true
	}
	_, ok, _ := r.Value() // the run keeps the error
	return ok
}

// enough reports whether rows that come in the order of ORDER BY are all that the page needs, now that the next item's
// rows have these keys. Among arrays, and among objects, items come in no order.
func enough(rows []entry, keep int, next []value.Value) bool {
	if len(rows) < keep {
		return false
	}
	for i, k := range rows[len(rows)-1].at.keys {
		if index.Compare(k, next[i]) != 0 {
			return true
		}
		if !index.Exact(k) {
			return false
		}
	}
	return true
}

package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// entry is a row that waits for its place in the order.
type entry struct {
	at  position
	row eval.Row
	raw []byte
}

// sorted emits the rows in the order of ORDER BY, and of their rids where keys are equal.
func (e *execution) sorted() error {
	if err := e.completeKeys(); err != nil {
		return err
	}
	rows, err := e.collect()
	if err != nil {
		return err
	}
	var seen *eval.Set
	if e.program.Distinct() {
		seen = eval.NewSet()
	}
	for _, row := range rows {
		v, ok, err := row.row.Value()
		if err != nil {
			return err
		}
		if !ok || seen != nil && !seen.Add(v) || e.passed(&row.at) {
			continue
		}
		document := row.raw
		if !e.program.Whole() {
			document = v.AppendJSON(nil)
		}
		if !e.emit(document, func() *position { return &row.at }) || e.done(func() *position { return row.at.next() }) {
			return nil
		}
	}
	if e.beyond != nil { // rows were left out, and some of those kept had no result: the page ends early
		e.next = e.beyond
		e.next.skip, e.next.take = e.skip, e.take
	}
	return nil
}

// passed reports whether an earlier page has gone beyond a place in the order.
func (e *execution) passed(at *position) bool {
	return e.from != nil && e.order(at, e.from) < 0
}

// order compares two places: by the keys, then, in the direction of the first key, by the rid, then by the row in the item.
func (e *execution) order(a, b *position) int {
	descending := e.program.Keys()
	for i, down := range descending {
		if c := value.Compare(a.keys[i], b.keys[i]); c != 0 {
			return directed(c, down)
		}
	}
	rids := cmp.Compare(a.serial, b.serial)
	if a.serial == 0 || b.serial == 0 {
		rids = compareRIDs(a.rid, b.rid)
	}
	return cmp.Or(directed(rids, descending[0]), cmp.Compare(a.row, b.row))
}

func directed(c int, descending bool) int {
	if descending {
		return -c
	}
	return c
}

// collect returns the rows in order. Where a page's size is known it keeps no more of them than the page can use.
func (e *execution) collect() ([]entry, error) {
	keep := math.MaxInt
	if e.req.MaxItems > 0 && !e.program.Distinct() {
		keep = e.skip + e.req.MaxItems + 1
	}
	var rows []entry
	order := func(a, b entry) int { return e.order(&a.at, &b.at) }
	serial := 0
	err := e.items("", func(item Item) bool {
		n := 0
		serial++
		return nil == e.run.Item(item.Value, func(r eval.Row) bool {
			at := position{rid: item.RID, serial: serial, row: n, keyRow: n, keys: r.SortKeys()}
			n++
			if !e.program.Distinct() && e.passed(&at) {
				return true
			}
			// Once more rows than needed have been seen, the worst of the best bounds what is worth keeping.
			if e.beyond != nil && e.order(&at, e.beyond) > 0 {
				return true
			}
			rows = append(rows, entry{at: at, row: r.Keep(), raw: item.Raw})
			if len(rows)/2 >= keep {
				slices.SortFunc(rows, order)
				beyond := rows[keep].at
				e.beyond = &beyond
				clear(rows[keep:])
				rows = rows[:keep]
			}
			return true
		})
	})
	slices.SortFunc(rows, order)
	return rows, err
}

// fold emits the groups, each at the place of the first row it had.
func (e *execution) fold() error {
	groups := e.run.Groups()
	var first []position
	for range groups.Len() { // aggregates without GROUP BY: one group from the start, at no item
		first = append(first, position{})
	}
	err := e.items("", func(item Item) bool {
		from, err := groups.Add(item.Value)
		for n := from; n < groups.Len(); n++ {
			first = append(first, position{rid: item.RID, row: n - from})
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return e.groups(groups, first)
}

func (e *execution) groups(groups *eval.Groups, first []position) error {
	var seen *eval.Set
	if e.program.Distinct() {
		seen = eval.NewSet()
	}
	for i, at := range first {
		v, ok, err := groups.Row(i).Value()
		if err != nil {
			return err
		}
		if !ok || seen != nil && !seen.Add(v) || e.from.behind(at) {
			continue
		}
		if !e.emit(v.AppendJSON(nil), func() *position { return &at }) || e.done(at.next) {
			return nil
		}
	}
	return nil
}

package query

import (
	"cmp"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// entry is a row that waits for its place in the order.
type entry struct {
	at    position
	row   eval.Row
	raw   []byte
	bytes int // what it keeps in memory
}

// entryBytes is what an entry takes besides its keys and its row, with room for a list that grows.
const entryBytes = 600

// sorted emits the rows in the order of ORDER BY, and where keys are equal in that in which their index is read.
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
		e.req.meter.Drop(0)
		v, ok, err := row.row.Value()
		if err != nil {
			return err
		}
		if !ok || !e.isNew(seen, v) || e.passed(&row.at) {
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
	if e.beyond != nil { // rows were left out
		place := *e.beyond
		place.skip, place.take = e.skip, e.take
		if e.next == nil { // some of those kept had no result: the page ends early
			e.next = &place
		} else {
			e.rest = &place
		}
	}
	return nil
}

// passed reports whether an earlier page has gone beyond a place in the order, or the request begins behind it.
func (e *execution) passed(at *position) bool {
	return e.from != nil && e.order(at, e.from) < 0 || e.req.Resume != nil && e.beforeResume(at)
}

// order compares two places: by the keys, then, in the direction of the index scan, by the rid, then by the row in the item.
func (e *execution) order(a, b *position) int {
	descending := e.program.Keys()
	for i, down := range descending {
		if !e.run.Compares(a.keys[i], b.keys[i]) {
			return 0 // the run has failed
		}
		if c := value.Compare(a.keys[i], b.keys[i]); c != 0 {
			return directed(c, down)
		}
	}
	rids := cmp.Compare(a.serial, b.serial)
	if a.serial == 0 || b.serial == 0 {
		rids = compareRIDs(a.rid, b.rid)
	}
	return cmp.Or(directed(rids, e.reverse), cmp.Compare(a.row, b.row))
}

func directed(c int, descending bool) int {
	if descending {
		return -c
	}
	return c
}

// collect returns the rows in order. Where a page's size is known it keeps no more of them than the page can use.
func (e *execution) collect() ([]entry, error) {
	keep, _ := e.keep()
	var rows []entry
	order := func(a, b entry) int { return e.order(&a.at, &b.at) }
	serial, meter := 0, e.req.meter
	err := e.items("", func(item Item) bool {
		n := 0
		if serial++; e.inOrder {
			serial = 0 // the order of the scan is not that of the rids
		}
		more := true
		return nil == e.run.Item(item.Value, func(r eval.Row) bool {
			at := position{rid: item.RID, serial: serial, row: n, keyRow: n, keys: r.SortKeys()}
			n++
			if e.inOrder && n == 1 && enough(rows, keep, at.keys) {
				if more = false; e.beyond == nil {
					e.beyond = &at
				}
				return false
			}
			if !e.program.Distinct() && e.passed(&at) {
				return true
			}
			// Once more rows than needed have been seen, the worst of the best bounds what is worth keeping.
			if e.beyond != nil && e.order(&at, e.beyond) > 0 {
				return true
			}
			if !e.gives(r) {
				return true
			}
			kept := meter.Kept()
			rows = append(rows, entry{at: at, row: r.Keep(), raw: item.Raw})
			more = meter.Keep(entryBytes + len(item.Raw))
			rows[len(rows)-1].bytes = meter.Kept() - kept
			if len(rows)/2 >= keep {
				slices.SortFunc(rows, order)
				beyond := rows[keep].at
				e.beyond = &beyond
				for _, left := range rows[keep:] {
					meter.Free(left.bytes)
				}
				clear(rows[keep:])
				rows = rows[:keep]
			}
			return more
		}) && more
	})
	if err == nil {
		slices.SortFunc(rows, order)
		err = e.run.Err()
	}
	return rows, err
}

// isNew reports whether a row's value is to be given: with DISTINCT, whether it hasn't come up before.
func (e *execution) isNew(seen *eval.Set, v value.Value) bool {
	if seen == nil {
		return true
	}
	if !seen.Add(v) {
		return false
	}
	return e.req.meter.Keep(eval.SetBytes + eval.MemoryOf(v))
}

package query

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
)

// stream emits rows as they come up. With DISTINCT it begins at the first item, to know what earlier pages have given.
func (e *execution) stream() error {
	after := ""
	var seen *eval.Set
	if e.program.Distinct() {
		seen = eval.NewSet()
	} else if e.from != nil {
		after = e.from.after
	}
	previous := after
	return e.items(after, func(item Item) bool {
		row, more := 0, true
		err := e.run.Item(item.Value, func(r eval.Row) bool {
			at := position{after: previous, rid: item.RID, row: row}
			row++
			if seen == nil && e.from.behind(at) {
				return true
			}
			more = e.streamed(r, item, at, seen)
			return more
		})
		previous = item.RID
		return more && err == nil
	})
}

// streamed emits one row and reports whether the page goes on.
func (e *execution) streamed(r eval.Row, item Item, at position, seen *eval.Set) bool {
	v, ok, err := r.Value()
	if err != nil {
		return false // the run keeps the error
	}
	if !ok || !e.isNew(seen, v) || seen != nil && e.from.behind(at) {
		return true
	}
	document := item.Raw
	if !e.program.Whole() {
		document = v.AppendJSON(nil)
	}
	if !e.emit(document, func() *position { return &at }) {
		return false
	}
	return !e.done(func() *position {
		at.row++
		return &at
	})
}

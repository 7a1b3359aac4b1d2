package script

import (
	"sort"

	"github.com/dop251/goja"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// sort orders a list by keys of the same length, in the service's order of types and values.
func (r *run) sort(call goja.FunctionCall) goja.Value {
	s := r.session
	list, keys := call.Argument(0).ToObject(s.rt), call.Argument(1).ToObject(s.rt)
	descending := call.Argument(2).ToBoolean()
	rows := make([]sortRow, s.elements(list))
	for i := range rows {
		name := s.rt.ToValue(i).String()
		rows[i].row = list.Get(name)
		if text, ok := s.encode(keys.Get(name)); ok {
			key, err := value.Parse([]byte(text))
			if err != nil {
				s.throw("TypeError", "The key of a document can't be sorted by.")
			}
			rows[i].key = key
		}
	}
	sort.SliceStable(rows, func(i, j int) bool {
		if descending {
			i, j = j, i
		}
		return value.Compare(rows[i].key, rows[j].key) < 0
	})
	sorted := make([]any, len(rows))
	for i := range rows {
		sorted[i] = rows[i].row
	}
	return s.rt.NewArray(sorted...)
}

type sortRow struct {
	row goja.Value
	key value.Value
}

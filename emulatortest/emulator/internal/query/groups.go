package query

import (
	"cmp"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// groupEntry is a group and its place in the result.
type groupEntry struct {
	index int
	at    position // of the group's first row; its keys are what groups are ordered by
}

// groupPlaceBytes is what the place of a group takes, in a list that grows.
const groupPlaceBytes = 256

// fold emits the groups.
func (e *execution) fold() error {
	groups := e.run.Groups()
	var all []groupEntry
	for range groups.Len() { // aggregates without GROUP BY: one group from the start, at no item
		all = append(all, groupEntry{index: len(all)})
	}
	err := e.items("", func(item Item) bool {
		from, err := groups.Add(item.Value)
		for n := from; n < groups.Len(); n++ {
			all = append(all, groupEntry{index: n, at: position{rid: item.RID, row: n - from}})
		}
		return err == nil && e.req.meter.Keep((groups.Len()-from)*groupPlaceBytes)
	})
	if err != nil {
		return err
	}
	descending := e.orderGroups(groups, all)
	if err := e.completeGroup(all, len(descending)); err != nil {
		return err
	}
	return e.emitGroups(groups, all, descending)
}

// orderGroups sorts the groups and returns the directions of the keys that they are sorted by. With ORDER BY those are its
// keys. Else, as has been seen of the service, a query that an index on one property could answer gives its groups in that
// property's order, and any other in the order of each group's first item.
func (e *execution) orderGroups(groups *eval.Groups, all []groupEntry) (descending []bool) {
	switch descending = e.program.Keys(); {
	case len(descending) > 0:
		for i := range all {
			all[i].at.keys = groups.Row(all[i].index).SortKeys()
		}
	case groupsOfIndex(e.req.Query) && !slices.ContainsFunc(all, func(g groupEntry) bool { return groups.Keys(g.index)[0].IsUndefined() }):
		descending = []bool{false}
		for i := range all {
			all[i].at.keys = groups.Keys(all[i].index)
		}
	default:
		return nil
	}
	slices.SortStableFunc(all, func(a, b groupEntry) int { return compareGroups(&a.at, &b.at, descending) })
	return descending
}

// groupsOfIndex reports whether the groups and their sizes could be read from the index of one property: one grouping
// expression over the items themselves, and nothing in SELECT but it and COUNT of a constant.
func groupsOfIndex(q *sql.Query) bool {
	if len(q.GroupBy) != 1 || rootName(q) == "" || len(q.From.Sources) > 1 {
		return false
	}
	key := sql.Canonical(q.GroupBy[0])
	return !slices.ContainsFunc(q.Select.Items, func(item sql.SelectItem) bool {
		if call, ok := item.Expr.(*sql.Call); ok && call.Name == "COUNT" {
			return !constant(call.Args[0])
		}
		return sql.Canonical(item.Expr) != key
	})
}

// compareGroups orders two groups by their keys, then by their first rows.
func compareGroups(a, b *position, descending []bool) int {
	for i, down := range descending {
		if c := value.Compare(a.keys[i], b.keys[i]); c != 0 {
			return directed(c, down)
		}
	}
	return cmp.Or(compareRIDs(a.rid, b.rid), cmp.Compare(a.row, b.row))
}

// completeGroup finds the keys of the group at which the page begins, when the token could not carry them.
func (e *execution) completeGroup(all []groupEntry, keys int) error {
	if e.from == nil || keys == 0 || !e.from.lost && len(e.from.keys) == keys {
		return nil
	}
	at := slices.IndexFunc(all, func(g groupEntry) bool { return g.at.rid == e.from.rid && g.at.row == e.from.keyRow })
	if at < 0 {
		return errPlaceLost
	}
	e.from.keys = all[at].at.keys
	return nil
}

func (e *execution) emitGroups(groups *eval.Groups, all []groupEntry, descending []bool) error {
	var seen *eval.Set
	if e.program.Distinct() {
		seen = eval.NewSet()
	}
	for _, g := range all {
		e.req.meter.Drop(0)
		v, ok, err := groups.Row(g.index).Value()
		if err != nil {
			return err
		}
		passed := e.from != nil && compareGroups(&g.at, e.from, descending) < 0
		if !ok || !e.isNew(seen, v) || passed {
			continue
		}
		g.at.keyRow = g.at.row
		if !e.emit(v.AppendJSON(nil), func() *position { return &g.at }) || e.done(g.at.next) {
			return nil
		}
	}
	return nil
}

package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

const (
	defaultIndexFrom = 64
	// maxIndexes is how many indexes a physical partition keeps; the one that was not used for longest goes first.
	maxIndexes = 16
)

// valueIndex holds an entry for each item of a partition, or for each element of an array in it, in the order of their values and
// then of their rids. It comes into being with the first query that can use it; which one a query uses is decided in index_choice.go of
// package query.
type valueIndex struct {
	order index.Order
	// logical says that entries are in the order of logical partitions first, for queries of one.
	logical bool
	name    string
	entries *btree.BTreeG[indexEntry]
}

// indexEntry is an item with the value that it is found by: with several paths an array of arrays of one value each, of which
// those of undefined are empty. Arrays and objects are empty, too: only their kind counts.
type indexEntry struct {
	key value.Value
	it  *item
}

// indexPlace makes an entry a place between others, to begin or end at: a cut, or the first so many values of its key.
type indexPlace struct {
	cut   *index.Cut
	depth int
}

func indexName(o index.Order, logical bool) string {
	if logical {
		return "logical " + o.Name()
	}
	return o.Name()
}

func newIndex(o index.Order, logical bool) *valueIndex {
	x := &valueIndex{order: o, logical: logical, name: indexName(o, logical)}
	x.entries = newTree(x.compare)
	return x
}

func (x *valueIndex) compare(a, b indexEntry) int {
	if x.logical {
		if a.it.epk != b.it.epk || a.it.canon != b.it.canon {
			return cmp.Or(strings.Compare(a.it.epk, b.it.epk), strings.Compare(a.it.canon, b.it.canon))
		}
	}
	depth := len(x.order)
	switch {
	case a.it.place != nil && a.it.place.cut != nil:
		return -side(a.it.place.cut, b.key)
	case b.it.place != nil && b.it.place.cut != nil:
		return side(b.it.place.cut, a.key)
	case a.it.place != nil:
		depth = a.it.place.depth
	case b.it.place != nil:
		depth = b.it.place.depth
	}
	return cmp.Or(x.compareKeys(a.key, b.key, depth), cmp.Compare(a.it.ordinal, b.it.ordinal))
}

// side is on which side of a cut a key lies.
func side(c *index.Cut, key value.Value) int {
	if c.Below(key) {
		return -1
	}
	return 1
}

// compareKeys is for keys of the index, in which arrays and objects stand for their kinds. As many values count as depth says.
func (x *valueIndex) compareKeys(a, b value.Value, depth int) int {
	if len(x.order) == 1 {
		return value.Compare(a, b)
	}
	for i := range depth {
		if c := value.Compare(a.Index(i).Index(0), b.Index(i).Index(0)); c != 0 {
			if x.order[i].Descending != x.order[0].Descending {
				return -c
			}
			return c
		}
	}
	return 0
}

// indexKey leaves of arrays and objects only their kind.
func indexKey(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		return value.FromArray(nil)
	case value.Object:
		return value.FromObject(nil)
	default:
		return v
	}
}

// tuple is the key of several values.
func tuple(values []value.Value) value.Value {
	if len(values) == 1 {
		return indexKey(values[0])
	}
	parts := make([]value.Value, len(values))
	for i, v := range values {
		parts[i] = value.FromArray([]value.Value{indexKey(v)})
	}
	return value.FromArray(parts)
}

// each calls yield with the keys of an item.
func (x *valueIndex) each(v value.Value, yield func(value.Value)) {
	if len(x.order) > 1 {
		values := make([]value.Value, len(x.order))
		for i, k := range x.order {
			values[i] = v.At(k.Path...)
		}
		yield(tuple(values))
		return
	}
	path := x.order[0].Path
	if last := len(path) - 1; path[last] == index.Element {
		elements, _ := v.At(path[:last]...).Array()
		for _, e := range elements {
			yield(indexKey(e))
		}
		return
	}
	yield(indexKey(v.At(path...)))
}

func (x *valueIndex) add(it *item, v value.Value) {
	x.each(v, func(key value.Value) { x.entries.Set(indexEntry{key: key, it: it}) })
}

func (x *valueIndex) remove(it *item, v value.Value) {
	x.each(v, func(key value.Value) { x.entries.Delete(indexEntry{key: key, it: it}) })
}

// fill builds the index of the items of a state.
func (x *valueIndex) fill(s *state) {
	entries := make([]indexEntry, 0, s.byOrdinal.Len())
	s.byOrdinal.Scan(func(it *item) bool {
		x.each(it.value(), func(key value.Value) { entries = append(entries, indexEntry{key: key, it: it}) })
		return true
	})
	slices.SortFunc(entries, x.compare)
	// A tree that is loaded in order has nodes that are half full. Two thirds in order and then the rest fill three quarters.
	const late = 3
	for i, e := range entries {
		if i%late != 0 {
			x.entries.Load(e)
		}
	}
	for i := 0; i < len(entries); i += late {
		x.entries.Set(entries[i])
	}
}

// value parses the item, or takes what is kept of an earlier time. Its strings are parts of the item's text.
func (it *item) value() value.Value {
	if v := it.parsed.Load(); v != nil {
		return *v
	}
	v, err := value.ParseShared(it.raw)
	if err != nil {
		return value.Value{}
	}
	return v
}

// indexed finds an index of the state.
func (s *state) indexed(o index.Order, logical bool) *valueIndex {
	name := indexName(o, logical)
	for _, x := range s.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}

// ensure builds what is missing of the indexes, and reports whether it built any. It needs the partition's lock for writing.
func (s *state) ensure(orders []index.Order, logical bool) (changed bool) {
	for _, o := range orders[:min(len(orders), maxIndexes)] {
		x := s.indexed(o, logical)
		if x == nil {
			x = newIndex(o, logical)
			x.fill(s)
			changed = true
		}
		kept := slices.DeleteFunc(slices.Clone(s.indexes), func(other *valueIndex) bool { return other == x })
		s.indexes = append([]*valueIndex{x}, kept[:min(len(kept), maxIndexes-1)]...)
	}
	return changed
}

// reindex swaps an item in the indexes.
func (s *state) reindex(old, it *item) {
	if len(s.indexes) == 0 {
		return
	}
	var was, is value.Value
	if old != nil {
		was = old.value()
	}
	if it != nil {
		is = it.value()
	}
	for _, x := range s.indexes {
		if old != nil {
			x.remove(old, was)
		}
		if it != nil {
			x.add(it, is)
		}
	}
}

// copyIndexes returns indexes that stay as they are while the originals go on.
func copyIndexes(indexes []*valueIndex) []*valueIndex {
	if len(indexes) == 0 {
		return nil
	}
	copies := make([]*valueIndex, len(indexes))
	for i, x := range indexes {
		c := *x
		c.entries = x.entries.Copy()
		copies[i] = &c
	}
	return copies
}

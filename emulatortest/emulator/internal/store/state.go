package store

import (
	"cmp"

	"github.com/tidwall/btree"
)

// state is what one physical partition holds at one LSN. Clone is cheap, so a state is also the way to go back after a
// failed batch, to read a consistent page and to play a replica that lags.
type state struct {
	lsn   int64
	bytes int64
	// hidden is the number of items that queries don't see.
	hidden int
	// Each tree holds every item, in another order.
	byID      *btree.BTreeG[*item] // logical partition, id
	byKey     *btree.BTreeG[*item] // hash, logical partition, ordinal
	byOrdinal *btree.BTreeG[*item] // ordinal, which is the order of rids
	byLSN     *btree.BTreeG[*item] // LSN of the last write, ordinal
	// deadlines holds the items that expire, earliest first.
	deadlines *btree.BTreeG[deadline]
	// unique holds the values of unique keys, logical the bytes of each logical partition.
	unique  *btree.BTreeG[uniqueEntry]
	logical *btree.BTreeG[logicalSize]
	// indexes are those that queries have asked for, the one used last first.
	indexes []*valueIndex
}

type deadline struct {
	at int64 // Unix seconds
	it *item
}

type uniqueEntry struct {
	canon, value string
	it           *item
}

type logicalSize struct {
	canon, epk string
	bytes      int64
	items      int
}

func newTree[T any](compare func(a, b T) int) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(func(a, b T) bool { return compare(a, b) < 0 }, btree.Options{NoLocks: true})
}

func newState() *state {
	return &state{
		lsn: 1,
		byID: newTree(func(a, b *item) int {
			return cmp.Or(cmp.Compare(a.canon, b.canon), cmp.Compare(a.id, b.id))
		}),
		byKey:     newTree(compareByKey),
		byOrdinal: newTree(func(a, b *item) int { return cmp.Compare(a.ordinal, b.ordinal) }),
		byLSN: newTree(func(a, b *item) int {
			return cmp.Or(cmp.Compare(a.lsn, b.lsn), cmp.Compare(a.ordinal, b.ordinal))
		}),
		deadlines: newTree(func(a, b deadline) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.it.ordinal, b.it.ordinal))
		}),
		unique: newTree(func(a, b uniqueEntry) int {
			return cmp.Or(cmp.Compare(a.canon, b.canon), cmp.Compare(a.value, b.value))
		}),
		logical: newTree(func(a, b logicalSize) int { return cmp.Compare(a.canon, b.canon) }),
	}
}

func compareByKey(a, b *item) int {
	return cmp.Or(cmp.Compare(a.epk, b.epk), cmp.Compare(a.canon, b.canon), cmp.Compare(a.ordinal, b.ordinal))
}

// clone returns a state that stays as it is while the original goes on. It changes bookkeeping inside the original, so it
// needs the partition's lock for writing.
func (s *state) clone() *state {
	c := *s
	c.byID, c.byKey, c.byOrdinal, c.byLSN = s.byID.Copy(), s.byKey.Copy(), s.byOrdinal.Copy(), s.byLSN.Copy()
	c.deadlines, c.unique, c.logical = s.deadlines.Copy(), s.unique.Copy(), s.logical.Copy()
	c.indexes = copyIndexes(s.indexes)
	return &c
}

// find returns the item with an id in a logical partition, or nil.
func (s *state) find(canon, id string) *item {
	it, _ := s.byID.Get(&item{canon: canon, id: id})
	return it
}

// swap takes old out and puts it in; either may be nil. The deadline of it follows from the container's TTL.
func (s *state) swap(old, it *item, ttl *int64) {
	s.reindex(old, it)
	if old != nil {
		s.byID.Delete(old)
		s.byKey.Delete(old)
		s.byOrdinal.Delete(old)
		s.byLSN.Delete(old)
		if at, expires := old.expiry(ttl); expires {
			s.deadlines.Delete(deadline{at: at, it: old})
		}
		for _, v := range old.unique {
			s.unique.Delete(uniqueEntry{canon: old.canon, value: v})
		}
		s.resize(old, -int64(len(old.raw)), -1)
	}
	if it != nil {
		s.byID.Set(it)
		s.byKey.Set(it)
		s.byOrdinal.Set(it)
		s.byLSN.Set(it)
		if at, expires := it.expiry(ttl); expires {
			s.deadlines.Set(deadline{at: at, it: it})
		}
		for _, v := range it.unique {
			s.unique.Set(uniqueEntry{canon: it.canon, value: v, it: it})
		}
		s.resize(it, int64(len(it.raw)), 1)
	}
}

func (s *state) resize(it *item, bytes int64, items int) {
	s.bytes += bytes
	if it.unindexed {
		s.hidden += items
	}
	l, ok := s.logical.Get(logicalSize{canon: it.canon})
	if !ok {
		l = logicalSize{canon: it.canon, epk: it.epk}
	}
	l.bytes += bytes
	l.items += items
	if l.items == 0 {
		s.logical.Delete(l)
		return
	}
	s.logical.Set(l)
}

// share gives a new item the strings of its logical partition, so that these are kept once.
func (s *state) share(it *item) {
	if l, ok := s.logical.Get(logicalSize{canon: it.canon}); ok {
		it.canon, it.epk = l.canon, l.epk
	}
}

// logicalBytes is how much one logical partition holds.
func (s *state) logicalBytes(canon string) int64 {
	l, _ := s.logical.Get(logicalSize{canon: canon})
	return l.bytes
}

package store

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/tidwall/btree"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// visit counts items and entries of indexes that are looked at.
func (s *Snapshot) visit() { s.c.account.visited.Add(1) }

// Visited is how many items and entries of indexes reads have looked at since the account was made. It is for tests of cost.
func (a *Account) Visited() int64 { return a.visited.Load() }

// rank is the number of entries of a tree that lie before a pivot.
func rank[T any](tree *btree.BTreeG[T], before func(T) bool) int {
	return sort.Search(tree.Len(), func(i int) bool {
		e, _ := tree.GetAt(i)
		return !before(e)
	})
}

// items is the number of items in the snapshot's part of a partition, expired ones included.
func (s *Snapshot) items(part snapshotPart) int {
	tree := part.s.byKey
	switch {
	case s.area.whole(part.p):
		return tree.Len()
	case s.area.logical:
		l, _ := part.s.logical.Get(logicalSize{canon: s.area.canon})
		return l.items
	}
	return rank(tree, func(it *item) bool { return epk.Compare(it.epk, s.area.max) < 0 }) - rank(tree, func(it *item) bool { return epk.Compare(it.epk, s.area.min) < 0 })
}

// Len is the number of items in the scope, expired ones and, of a prefix, some of its neighbours included.
func (s *Snapshot) Len() int {
	n := 0
	for _, part := range s.parts {
		n += s.items(part)
	}
	return n
}

// span is the entries of an index between two places.
type span struct {
	index    *valueIndex
	from, to indexEntry
	n        int // of entries
	// point is the value of a span of one, whose entries are in the order of their rids.
	point *value.Value
}

// pivot is a place in an index; in one of logical partitions it is in that of the area.
func (s *Snapshot) pivot(c index.Cut) indexEntry {
	return indexEntry{it: &item{epk: s.area.min, canon: s.area.canon, place: &indexPlace{cut: &c}}}
}

func (s *Snapshot) span(x *valueIndex, r index.Range) span {
	p := span{index: x, from: s.pivot(r.From), to: s.pivot(r.To)}
	first := rank(x.entries, func(e indexEntry) bool { return x.compare(e, p.from) < 0 })
	p.n = max(0, rank(x.entries, func(e indexEntry) bool { return x.compare(e, p.to) < 0 })-first)
	if v, ok := r.Point(); ok {
		p.point = &v
	}
	return p
}

// each calls yield with the items of a span, in the order of the index.
func (p span) each(yield func(*item)) {
	at := p.index.entries.Iter()
	for ok := at.Seek(p.from); ok && p.index.compare(at.Item(), p.to) < 0; ok = at.Next() {
		yield(at.Item().it)
	}
}

// spans finds the entries of one partition that meet one of the conditions, and their number. It reports false when an index
// is missing.
func (s *Snapshot) spans(part snapshotPart, conditions []index.Condition) (found []span, n int, ok bool) {
	for _, c := range conditions {
		x := part.s.indexed(index.By(c.Path), s.area.logical)
		if x == nil {
			return nil, 0, false
		}
		for _, r := range c.Ranges {
			p := s.span(x, r)
			if p.n > 0 {
				found = append(found, p)
				n += p.n
			}
		}
	}
	return found, n, true
}

// candidates are the items of a part that may meet a query's conditions, or all items when spans is nil.
type candidates struct {
	part  snapshotPart
	spans []span
	n     int
	all   bool
}

// candidates chooses, of several lists of which each item of the result meets one condition, the list with the fewest items.
func (s *Snapshot) candidates(part snapshotPart, alternatives [][]index.Condition) candidates {
	best := candidates{part: part, n: s.items(part), all: true}
	for _, conditions := range alternatives {
		if found, n, ok := s.spans(part, conditions); ok && n < best.n {
			best = candidates{part: part, spans: found, n: n}
		}
	}
	return best
}

// Candidates is at most how many items meet one condition of each of the lists, as far as indexes tell, expired ones included.
func (s *Snapshot) Candidates(alternatives [][]index.Condition) int {
	n := 0
	for _, part := range s.parts {
		n += s.candidates(part, alternatives).n
	}
	return n
}

// Matching yields, in the order of their rids and beginning after the given one, at least those live documents that meet one
// condition of each of the lists. all says that the caller will read to the end. The cost of a page depends on the number
// of documents that meet the conditions, and all pages together read no document more than a few times.
func (s *Snapshot) Matching(alternatives [][]index.Condition, afterRID string, all bool) iter.Seq[Document] {
	from, ok := firstOrdinal(afterRID)
	if !ok {
		return func(func(Document) bool) {}
	}
	return func(yield func(Document) bool) {
		var few []candidates
		n, narrowed := 0, false
		for _, part := range s.parts {
			c := s.candidates(part, alternatives)
			few = append(few, c)
			n += c.n
			narrowed = narrowed || !c.all
		}
		if !narrowed {
			s.walk(from, yield)
			return
		}
		if runs, ok := s.pointRuns(few, from); ok {
			s.mergeRuns(runs, yield)
			return
		}
		// Where many match, so that the next page of them may be near, the items are read in their order first. If as many
		// as an index would give did not fill the page, the index gives the rest.
		const near = 8 // looking at an item takes that much longer than at an entry of an index
		budget := n / near
		if !all && budget > 0 {
			done := true
			s.walk(from, func(d Document) bool {
				from = d.it.ordinal + 1
				budget--
				more := yield(d)
				done = !more || budget > 0
				return more && budget > 0
			})
			if done {
				return
			}
		}
		for _, it := range s.gather(few, from) {
			if s.shows(it) && !yield(s.c.document(it)) {
				return
			}
		}
	}
}

// pointRuns gives one run for each value that is looked for, from an ordinal on. It reports false when they are too many, or when
// not only single values are looked for.
func (s *Snapshot) pointRuns(few []candidates, from uint64) (runs []*cursor, ok bool) {
	for _, c := range few {
		if c.all {
			return nil, false
		}
		for _, p := range c.spans {
			if p.point == nil || len(runs) == maxRuns {
				return nil, false
			}
			run := &cursor{index: p.index, at: p.index.entries.Iter(), canon: s.area.canon, end: &p.to}
			start := &indexEntry{key: *p.point, it: &item{epk: s.area.min, canon: s.area.canon, ordinal: from}}
			if run.seek(start, [2]indexEntry{}) {
				runs = append(runs, run)
			}
		}
	}
	return runs, true
}

// mergeRuns yields the documents of runs in the order of their rids, each once.
func (s *Snapshot) mergeRuns(runs []*cursor, yield func(Document) bool) {
	last := uint64(0) // no item has it
	for len(runs) > 0 {
		first := 0
		for i := range runs {
			if runs[i].at.Item().it.ordinal < runs[first].at.Item().it.ordinal {
				first = i
			}
		}
		it := runs[first].at.Item().it
		s.visit()
		if it.ordinal != last && s.area.holds(it) && s.shows(it) && !yield(s.c.document(it)) {
			return
		}
		last = it.ordinal
		if !runs[first].next() {
			runs = slices.Delete(runs, first, first+1)
		}
	}
}

// gather lists candidates from an ordinal on in the order of their rids, each once.
func (s *Snapshot) gather(few []candidates, from uint64) []*item {
	var items []*item
	take := func(it *item) {
		s.visit()
		if it.ordinal >= from && s.area.holds(it) {
			items = append(items, it)
		}
	}
	for _, c := range few {
		if c.all {
			s.eachInArea(c.part, take)
			continue
		}
		for _, p := range c.spans {
			p.each(take)
		}
	}
	slices.SortFunc(items, func(a, b *item) int { return cmp.Compare(a.ordinal, b.ordinal) })
	return slices.CompactFunc(items, func(a, b *item) bool { return a.ordinal == b.ordinal })
}

// eachInArea calls yield with the items of a part, in the order of their logical partitions.
func (s *Snapshot) eachInArea(part snapshotPart, yield func(*item)) {
	part.s.byKey.Ascend(&item{epk: s.area.min, canon: s.area.canon}, func(it *item) bool {
		if !s.area.logical && epk.Compare(it.epk, s.area.max) >= 0 || s.area.logical && (it.epk != s.area.min || it.canon != s.area.canon) {
			return false
		}
		yield(it)
		return true
	})
}

// Ordered yields the live documents in that order, from keys on, or the opposite one; documents that are equal in it are
// in the order of their rids, or the opposite one. It begins at the first document with those keys; nil means all, and it reports
// false when an index is missing.
func (s *Snapshot) Ordered(o index.Order, reverse bool, keys []value.Value, rid string) (iter.Seq[Document], bool) {
	for _, part := range s.parts {
		if part.s.indexed(o, s.area.logical) == nil {
			return nil, false
		}
	}
	return func(yield func(Document) bool) {
		s.merge(o, reverse, keys, rid, yield)
	}, true
}

// cursor walks an index one way.
type cursor struct {
	index   *valueIndex
	at      btree.IterG[indexEntry]
	reverse bool
	canon   string      // the logical partition that it stays in
	end     *indexEntry // where it ends, going forward; nil for the end of the index
}

// seek places the cursor at the first entry from a position on, in its direction.
func (c *cursor) seek(start *indexEntry, bounds [2]indexEntry) bool {
	if !c.reverse {
		if start != nil {
			return c.at.Seek(*start) && c.inside()
		}
		if !c.index.logical {
			return c.at.First()
		}
		return c.at.Seek(bounds[0]) && c.inside()
	}
	var ok bool
	switch {
	case start != nil:
		ok = c.at.Seek(*start)
		if ok && c.index.compare(c.at.Item(), *start) == 0 {
			return c.inside()
		}
	case c.index.logical:
		ok = c.at.Seek(bounds[1])
	default:
		return c.at.Last()
	}
	if ok {
		ok = c.at.Prev()
	} else {
		ok = c.at.Last()
	}
	return ok && c.inside()
}

func (c *cursor) next() bool {
	if c.reverse {
		return c.at.Prev() && c.inside()
	}
	return c.at.Next() && c.inside()
}

func (c *cursor) inside() bool {
	if c.end != nil && c.index.compare(c.at.Item(), *c.end) > 0 {
		return false
	}
	return !c.index.logical || c.at.Item().it.canon == c.canon
}

// merge walks the indexes of all parts together.
func (s *Snapshot) merge(o index.Order, reverse bool, keys []value.Value, rid string, yield func(Document) bool) {
	lowest, highest := index.OfKind(value.Undefined).From, index.OfKind(value.Object).To
	bounds := [2]indexEntry{s.pivot(lowest), s.pivot(highest)}
	var start *indexEntry
	if keys != nil {
		start = s.start(keys, rid, reverse)
	}
	var cursors []*cursor
	for _, part := range s.parts {
		x := part.s.indexed(o, s.area.logical)
		c := &cursor{index: x, at: x.entries.Iter(), reverse: reverse, canon: s.area.canon}
		if c.seek(start, bounds) {
			cursors = append(cursors, c)
		}
	}
	for len(cursors) > 0 {
		first := 0
		for i := 1; i < len(cursors); i++ { // parts are few
			order := cursors[i].index.compare(cursors[i].at.Item(), cursors[first].at.Item())
			if order < 0 != reverse && order != 0 {
				first = i
			}
		}
		it := cursors[first].at.Item().it
		s.visit()
		if s.area.holds(it) && s.shows(it) && !yield(s.c.document(it)) {
			return
		}
		if !cursors[first].next() {
			cursors = slices.Delete(cursors, first, first+1)
		}
	}
}

// start is where to begin. An index knows of arrays and objects only that they are some: among those all are read.
func (s *Snapshot) start(keys []value.Value, rid string, reverse bool) *indexEntry {
	at := &item{epk: s.area.min, canon: s.area.canon}
	if reverse {
		at.ordinal = 1<<64 - 1
	}
	e := &indexEntry{key: tuple(keys), it: at}
	for i, k := range keys {
		if !index.Exact(k) {
			at.place = &indexPlace{depth: i + 1}
			return e
		}
	}
	if ordinal, ok := itemOrdinal(rid); ok {
		at.ordinal = ordinal
	}
	return e
}

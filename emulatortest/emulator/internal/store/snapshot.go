package store

import (
	"container/heap"
	"iter"
	"strings"

	"github.com/tidwall/btree"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Snapshot is a consistent view of a scope. It needs no closing, does not change, and may be read by several goroutines.
type Snapshot struct {
	// RangeIDs are the physical partitions that it covers; SessionToken joins their tokens.
	RangeIDs     []string
	SessionToken string
	// LSN is the highest LSN of them.
	LSN int64

	c         *Container
	area      area
	parts     []snapshotPart
	visible   visible
	unindexed bool
}

type snapshotPart struct {
	p *partition
	s *state
}

// Snapshot takes the state of a scope as it is now (400, 404/1002, 410/1002). Within a physical partition it is
// consistent; partitions are taken one after the other.
func (c *Container) Snapshot(s Scope, sessionToken string) (*Snapshot, error) {
	session, err := parseSession(sessionToken)
	if err != nil {
		return nil, err
	}
	c.topology.RLock()
	defer c.topology.RUnlock()
	if c.deleted {
		return nil, parentNotFound()
	}
	a, partitions, err := c.resolve(s)
	if err != nil {
		return nil, err
	}
	now := c.account.now()
	out := &Snapshot{c: c, area: a, visible: visible{ttl: c.definition.DefaultTTL, now: now}, unindexed: s.Unindexed}
	tokens := make([]string, 0, len(partitions))
	for _, p := range partitions {
		if len(s.Indexes) > 0 {
			p.index(s.Indexes, a)
		}
		view, wait := p.view(now, s.Behind)
		if err := p.checkSession(session, view.lsn); err != nil {
			return nil, err
		}
		if err := await(wait); err != nil {
			return nil, err
		}
		out.parts = append(out.parts, snapshotPart{p: p, s: view})
		out.RangeIDs = append(out.RangeIDs, p.name())
		tokens = append(tokens, p.sessionToken(view.lsn))
		out.LSN = max(out.LSN, view.lsn)
	}
	out.SessionToken = strings.Join(tokens, ",")
	return out, nil
}

// Same reports whether another snapshot shows the same items for certain: nothing was written between the two, and nothing
// that either of them holds has expired.
func (s *Snapshot) Same(other *Snapshot) bool {
	if s.c != other.c || s.area != other.area || s.unindexed != other.unindexed || len(s.parts) != len(other.parts) {
		return false
	}
	now := max(s.visible.now.Unix(), other.visible.now.Unix())
	for i, part := range s.parts {
		if part != other.parts[i] {
			return false
		}
		if next, ok := part.s.deadlines.Min(); ok && next.at <= now {
			return false
		}
	}
	return true
}

// Items yields the live documents in the order of their rids, beginning after the given one; empty means the first. Its
// cost depends on what it yields, not on the rest of the container, and all pages together read no item more than a few times.
func (s *Snapshot) Items(afterRID string) iter.Seq[Document] {
	from, ok := firstOrdinal(afterRID)
	if !ok {
		return func(func(Document) bool) {}
	}
	return func(yield func(Document) bool) { s.walk(from, yield) }
}

// firstOrdinal is the ordinal to begin at, after a rid.
func firstOrdinal(afterRID string) (from uint64, ok bool) {
	if afterRID == "" {
		return 0, true
	}
	ordinal, ok := itemOrdinal(afterRID)
	return ordinal + 1, ok
}

// shows reports whether a reader gets to see an item.
func (s *Snapshot) shows(it *item) bool { return s.visible.ok(it) && (s.unindexed || !it.unindexed) }

// walk yields the documents in the order of their rids. A part of a physical partition with few logical partitions is read
// as one run for each of them. Where they are many, all items are read in their order, as most may belong to the scope; once as
// many were passed over as the scope has, its own are gathered and put in order.
func (s *Snapshot) walk(from uint64, yield func(Document) bool) {
	var runs runHeap
	crowded, own := false, 0
	for _, part := range s.parts {
		few, ok := s.runsOf(part, from)
		if ok {
			runs = append(runs, few...)
			continue
		}
		r := &run{at: part.s.byOrdinal.Iter(), whole: true}
		if r.at.Seek(&item{ordinal: from}) {
			runs = append(runs, r)
		}
		crowded = true
		own += s.items(part)
	}
	misses := 0
	heap.Init(&runs)
	for len(runs) > 0 {
		it := runs[0].at.Item()
		s.visit()
		if crowded && !s.area.holds(it) {
			if misses++; misses > own {
				s.walkGathered(it.ordinal, yield)
				return
			}
		} else if s.shows(it) && !yield(s.c.document(it)) {
			return
		}
		if runs[0].next() {
			heap.Fix(&runs, 0)
		} else {
			heap.Pop(&runs)
		}
	}
}

// walkGathered goes on with walk from an ordinal on.
func (s *Snapshot) walkGathered(from uint64, yield func(Document) bool) {
	few := make([]candidates, len(s.parts))
	for i, part := range s.parts {
		few[i] = candidates{part: part, all: true}
	}
	for _, it := range s.gather(few, from) {
		if s.shows(it) && !yield(s.c.document(it)) {
			return
		}
	}
}

// run walks items in the order of their rids: a whole physical partition, or one logical partition of it.
type run struct {
	at    btree.IterG[*item]
	canon string
	whole bool
}

func (r *run) next() bool {
	return r.at.Next() && (r.whole || r.at.Item().canon == r.canon)
}

// maxRuns is the most logical partitions of a physical one that are read as runs of their own.
const maxRuns = 64

// runsOf gives the runs of one physical partition. A scope of several logical partitions is one run for each; they are found
// by leaping from one to the next. It reports false when they are too many.
func (s *Snapshot) runsOf(part snapshotPart, from uint64) (runs runHeap, ok bool) {
	if s.area.whole(part.p) {
		r := &run{at: part.s.byOrdinal.Iter(), whole: true}
		if r.at.Seek(&item{ordinal: from}) {
			runs = append(runs, r)
		}
		return runs, true
	}
	if s.area.logical {
		return appendLogical(runs, part.s, s.area.min, s.area.canon, from), true
	}
	leap := part.s.byKey.Iter()
	leaps := 0
	for ok := leap.Seek(&item{epk: s.area.min}); ok; {
		it := leap.Item()
		if epk.Compare(it.epk, s.area.max) >= 0 {
			break
		}
		if leaps++; leaps > maxRuns {
			return nil, false
		}
		if s.area.holds(it) {
			runs = appendLogical(runs, part.s, it.epk, it.canon, from)
		}
		ok = leap.Seek(&item{epk: it.epk, canon: it.canon, ordinal: 1<<64 - 1})
	}
	return runs, true
}

func appendLogical(runs runHeap, s *state, hash, canon string, from uint64) runHeap {
	r := &run{at: s.byKey.Iter(), canon: canon}
	if r.at.Seek(&item{epk: hash, canon: canon, ordinal: from}) && r.at.Item().canon == canon && r.at.Item().epk == hash {
		runs = append(runs, r)
	}
	return runs
}

// runHeap merges runs by rid.
type runHeap []*run

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].at.Item().ordinal < h[j].at.Item().ordinal }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*run)) } //nolint:forcetypeassert // only appendRuns fills it
func (h *runHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

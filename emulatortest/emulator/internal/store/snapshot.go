package store

import (
	"container/heap"
	"iter"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem/epk"
	"github.com/tidwall/btree"
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

// Len is the number of items in the snapshot's physical partitions, an upper bound of what Items yields.
func (s *Snapshot) Len() int {
	n := 0
	for _, part := range s.parts {
		n += part.s.byOrdinal.Len()
	}
	return n
}

// Items yields the live documents in the order of their rids, beginning after the given one; empty means the first. Its
// cost depends on what it yields and on how many logical partitions lie in the scope, not on the rest of the container.
func (s *Snapshot) Items(afterRID string) iter.Seq[Document] {
	from := uint64(0)
	if afterRID != "" {
		ordinal, ok := itemOrdinal(afterRID)
		if !ok {
			return func(func(Document) bool) {}
		}
		from = ordinal + 1
	}
	return func(yield func(Document) bool) {
		var runs runHeap
		for _, part := range s.parts {
			runs = s.appendRuns(runs, part, from)
		}
		heap.Init(&runs)
		for len(runs) > 0 {
			it := runs[0].at.Item()
			if s.visible.ok(it) && (s.unindexed || !it.unindexed) && !yield(s.c.document(it)) {
				return
			}
			if runs[0].next() {
				heap.Fix(&runs, 0)
			} else {
				heap.Pop(&runs)
			}
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

// appendRuns adds the runs of one physical partition. A scope of several logical partitions is one run for each; they
// are found by leaping from one to the next.
func (s *Snapshot) appendRuns(runs runHeap, part snapshotPart, from uint64) runHeap {
	if s.area.whole(part.p) {
		r := &run{at: part.s.byOrdinal.Iter(), whole: true}
		if r.at.Seek(&item{ordinal: from}) {
			runs = append(runs, r)
		}
		return runs
	}
	if s.area.logical {
		return appendLogical(runs, part.s, s.area.min, s.area.canon, from)
	}
	leap := part.s.byKey.Iter()
	for ok := leap.Seek(&item{epk: s.area.min}); ok; {
		it := leap.Item()
		if epk.Compare(it.epk, s.area.max) >= 0 {
			break
		}
		if s.area.holds(it) {
			runs = appendLogical(runs, part.s, it.epk, it.canon, from)
		}
		ok = leap.Seek(&item{epk: it.epk, canon: it.canon, ordinal: 1<<64 - 1})
	}
	return runs
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

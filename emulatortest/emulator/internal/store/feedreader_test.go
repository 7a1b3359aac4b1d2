package store_test

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// reader follows a change feed range by range as an SDK does: a range that is gone hands its position to the ranges that
// name it as a parent.
type reader struct {
	t    testing.TB
	c    *store.Container
	read func(*store.Container, store.FeedRequest) (store.FeedPage, error)
	at   map[string]int64
	seen map[string]told // by rid, which a rename keeps
}

// told is what a feed said of an item last.
type told struct {
	key [3]string
	n   int
}

func newReader(t testing.TB, c *store.Container, read func(*store.Container, store.FeedRequest) (store.FeedPage, error)) *reader {
	r := &reader{t: t, c: c, read: read, at: map[string]int64{}, seen: map[string]told{}}
	ranges, _ := c.Ranges()
	for _, p := range ranges {
		r.at[p.ID] = p.LSN
	}
	return r
}

func (r *reader) told() map[told]bool {
	out := map[told]bool{}
	for _, it := range r.seen {
		out[it] = true
	}
	return out
}

// drain reads to the end of every range.
func (r *reader) drain() {
	r.t.Helper()
	r.followSplits()
	for id, lsn := range r.at {
		for {
			page, err := r.read(r.c, store.FeedRequest{Scope: store.Scope{RangeID: id}, Start: store.FeedStart{AfterLSN: lsn}, MaxItems: 2})
			if err != nil {
				r.t.Fatal(err)
			}
			for _, text := range page.Documents {
				r.take(parse(r.t, text))
			}
			lsn = must(store.ParseFeedETag(page.ETag))(r.t)
			if len(page.Documents) == 0 {
				break
			}
		}
		r.at[id] = lsn
	}
}

// followSplits moves the positions of ranges that are gone to the live ones that came from them, the lowest first.
func (r *reader) followSplits() {
	ranges, _ := r.c.Ranges()
	moved := map[string]int64{}
	for _, p := range ranges {
		lsn, known := r.at[p.ID]
		if !known {
			for _, parent := range p.Parents {
				if was, ok := r.at[parent]; ok && (!known || was < lsn) {
					lsn, known = was, true
				}
			}
		}
		if !known {
			r.t.Fatalf("range %s names no parent that was known: %v", p.ID, p.Parents)
		}
		moved[p.ID] = lsn
	}
	r.at = moved
}

// take applies one document of either feed.
func (r *reader) take(v value.Value) {
	current := v
	if meta := v.Get("metadata"); !meta.IsUndefined() {
		current = v.Get("current")
		if kind, _ := meta.Get("operationType").Str(); kind == "delete" {
			rid, _ := v.At("previous", "_rid").Str()
			delete(r.seen, rid)
			return
		}
	}
	rid, _ := current.Get("_rid").Str()
	tenant, _ := current.Get("t").Str()
	kind, _ := current.Get("e").Str()
	id, _ := current.Get("id").Str()
	n, _ := current.Get("n").Number()
	r.seen[rid] = told{key: [3]string{tenant, kind, id}, n: int(n)}
}

package restapi

import (
	"iter"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// snapshotSource hands a snapshot's documents to a query.
type snapshotSource struct{ snapshot *store.Snapshot }

var (
	_ query.CountingSource  = snapshotSource{}
	_ query.VersionedSource = snapshotSource{}
)

func itemsOf(documents iter.Seq[store.Document]) iter.Seq[query.Item] {
	return func(yield func(query.Item) bool) {
		for d := range documents {
			if !yield(query.Item{RID: d.RID, Raw: d.Raw, Value: d.Value()}) {
				return
			}
		}
	}
}

// Items implements [query.Source].
func (s snapshotSource) Items(afterRID string) iter.Seq[query.Item] {
	return itemsOf(s.snapshot.Items(afterRID))
}

// Len implements [query.IndexedSource].
func (s snapshotSource) Len() int { return s.snapshot.Len() }

// Candidates implements [query.IndexedSource].
func (s snapshotSource) Candidates(alternatives [][]index.Condition) int {
	return s.snapshot.Candidates(alternatives)
}

// Matching implements [query.IndexedSource].
func (s snapshotSource) Matching(alternatives [][]index.Condition, afterRID string, all bool) iter.Seq[query.Item] {
	return itemsOf(s.snapshot.Matching(alternatives, afterRID, all))
}

// Ordered implements [query.IndexedSource].
func (s snapshotSource) Ordered(o index.Order, reverse bool, keys []value.Value, rid string) (iter.Seq[query.Item], bool) {
	documents, ok := s.snapshot.Ordered(o, reverse, keys, rid)
	if !ok {
		return nil, false
	}
	return itemsOf(documents), true
}

// Unchanged implements [query.VersionedSource].
func (s snapshotSource) Unchanged(since query.Source) bool {
	earlier, ok := since.(snapshotSource)
	return ok && s.snapshot.Same(earlier.snapshot)
}

// Count implements [query.CountingSource].
func (s snapshotSource) Count(c *index.Condition) (int, bool) { return s.snapshot.Count(c) }

package query

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Item is one stored resource. Its bytes are handed on unchanged where the query asks for whole items.
type Item struct {
	RID   string
	Raw   []byte
	Value value.Value // Raw parsed
}

// Source is what a query reads: the items of a scope as they were at one moment.
type Source interface {
	// Items yields the items in the order of their rids, beginning after the given one, which need not exist any more;
	// empty means the first. It may be called several times.
	Items(afterRID string) iter.Seq[Item]
}

// Slice is a source of few items, such as the resources of a metadata feed, in any order.
type Slice []Item

// Items implements [Source].
func (s Slice) Items(afterRID string) iter.Seq[Item] {
	byRID := func(a, b Item) int { return compareRIDs(a.RID, b.RID) }
	if !slices.IsSortedFunc(s, byRID) {
		s = slices.SortedFunc(slices.Values(s), byRID)
	}
	return func(yield func(Item) bool) {
		for _, item := range s {
			if afterRID != "" && compareRIDs(item.RID, afterRID) <= 0 {
				continue
			}
			if !yield(item) {
				return
			}
		}
	}
}

// compareRIDs orders resource ids as they were given out: by the owner's bytes, then, for items, by the number in the last
// eight, which is in little endian.
func compareRIDs(a, b string) int {
	if a == b {
		return 0
	}
	const owner, item = 8, 16
	x, y := decodeRID(a), decodeRID(b)
	if len(x) != item || len(y) != item {
		return bytes.Compare(x, y)
	}
	if c := bytes.Compare(x[:owner], y[:owner]); c != 0 {
		return c
	}
	if binary.LittleEndian.Uint64(x[owner:]) < binary.LittleEndian.Uint64(y[owner:]) {
		return -1
	}
	return 1
}

// decodeRID returns the text's own bytes for what is no resource id.
func decodeRID(rid string) []byte {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(rid, "-", "/"))
	if err != nil {
		return []byte(rid)
	}
	return raw
}

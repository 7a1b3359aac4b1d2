package plan

import (
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Range is a range of effective partition keys, as a query plan gives it. A single key is a range from itself to itself
// with both ends included.
type Range struct {
	Min          string `json:"min"`
	Max          string `json:"max"`
	MinInclusive bool   `json:"isMinInclusive"`
	MaxInclusive bool   `json:"isMaxInclusive"`
}

// Contains reports whether the effective partition key lies in the range.
func (r Range) Contains(key string) bool {
	low, high := epk.Compare(key, r.Min), epk.Compare(key, r.Max)
	return (low > 0 || low == 0 && r.MinInclusive) && (high < 0 || high == 0 && r.MaxInclusive)
}

// least is the range of queries that have their result, or none, wherever they run: the empty key, which one partition owns.
var least = Range{Min: epk.Min, Max: epk.Min, MinInclusive: true, MaxInclusive: true}

// Ranges returns where the keys lie: sorted, none within another, never empty. Keys that contradict themselves give the
// range of the empty key. Levels is how many paths the container's partition key has.
func (k Keys) Ranges(scheme epk.Scheme, levels int) []Range {
	if k.Any {
		return []Range{{Min: epk.Min, Max: epk.Max, MinInclusive: true}}
	}
	ranges := make([]Range, 0, len(k.Prefixes))
	for _, prefix := range k.Prefixes {
		if len(prefix) == levels {
			point := epk.Hash(scheme, prefix...)
			ranges = append(ranges, Range{Min: point, Max: point, MinInclusive: true, MaxInclusive: true})
			continue
		}
		low, high := epk.PrefixRange(scheme, prefix...)
		ranges = append(ranges, Range{Min: low, Max: high, MinInclusive: true})
	}
	// A prefix sorts before the keys that it holds, and clients refuse overlapping ranges.
	slices.SortFunc(ranges, func(a, b Range) int { return strings.Compare(a.Min, b.Min) })
	apart := ranges[:0]
	for _, r := range ranges {
		if n := len(apart); n > 0 && apart[n-1].Contains(r.Min) {
			continue
		}
		apart = append(apart, r)
	}
	if len(apart) == 0 {
		return []Range{least}
	}
	return apart
}

package changefeed

import (
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// keyRange is a range of effective partition keys, [Min, Max), in upper-case
// hexadecimal digits. The service writes one bound sometimes trimmed and
// sometimes padded with zeros, "80" and "8000", so bounds are compared by the
// methods here and never as text.
type keyRange struct {
	Min string `json:"min"`
	Max string `json:"max"`
}

// everything is the whole key space.
var everything = keyRange{epk.Min, epk.Max}

func (r keyRange) String() string { return r.Min + "-" + r.Max }

func (r keyRange) isEmpty() bool { return epk.Compare(r.Min, r.Max) >= 0 }

func (r keyRange) equal(other keyRange) bool {
	return epk.Compare(r.Min, other.Min) == 0 && epk.Compare(r.Max, other.Max) == 0
}

// contains reports whether the other range lies within this one.
func (r keyRange) contains(other keyRange) bool {
	return epk.Compare(r.Min, other.Min) <= 0 && epk.Compare(other.Max, r.Max) <= 0
}

// covers reports whether the other range lies within this one and is smaller.
func (r keyRange) covers(other keyRange) bool { return r.contains(other) && !r.equal(other) }

// holds reports whether a key lies in the range.
func (r keyRange) holds(key string) bool {
	return epk.Compare(r.Min, key) <= 0 && epk.Compare(key, r.Max) < 0
}

// intersect returns what both ranges have; it may be empty.
func (r keyRange) intersect(other keyRange) keyRange {
	if epk.Compare(other.Min, r.Min) > 0 {
		r.Min = other.Min
	}
	if epk.Compare(other.Max, r.Max) < 0 {
		r.Max = other.Max
	}
	return r
}

// canonical writes the bounds in one way, so that all instances give the lease
// of a range the same id, however the service has padded the bounds.
func (r keyRange) canonical() keyRange {
	trim := func(bound string) string {
		bound = strings.ToUpper(bound)
		for len(bound)%2 == 0 && strings.HasSuffix(bound, "00") {
			bound = bound[:len(bound)-2]
		}
		return bound
	}
	return keyRange{trim(r.Min), trim(r.Max)}
}

// uncovered returns the parts of a range that none of the others covers.
func uncovered(whole keyRange, covering []keyRange) []keyRange {
	covering = slices.Clone(covering)
	slices.SortFunc(covering, func(a, b keyRange) int { return epk.Compare(a.Min, b.Min) })
	var out []keyRange
	reached := whole.Min
	for _, r := range append(covering, keyRange{whole.Max, whole.Max}) {
		if gap := (keyRange{reached, r.Min}).intersect(whole); !gap.isEmpty() {
			out = append(out, gap)
		}
		if epk.Compare(r.Max, reached) > 0 {
			reached = r.Max
		}
	}
	return out
}

func rangesOf(leases []*lease) []keyRange {
	out := make([]keyRange, 0, len(leases))
	for _, l := range leases {
		out = append(out, l.FeedRange.Range)
	}
	return out
}

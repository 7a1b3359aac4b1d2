package store

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Scope says which items a query or feed is about; its parts narrow each other. The zero value is the whole container.
type Scope struct {
	// Key is a full key or a prefix of one.
	Key Key
	// RangeID names a physical partition (410/1002 when gone).
	RangeID string
	// MinEPK (inclusive) and MaxEPK (exclusive) bound the hashes; both empty means no bounds.
	MinEPK, MaxEPK string
	// Behind is how many of the latest writes the replica that answers has not seen.
	Behind int
	// OnePartition refuses bounds that don't lie within one physical partition (410/1002), which is that of RangeID when it is given.
	OnePartition bool
	// Indexes are the orders that a query could use; what is missing is built if the scope is large enough to be worth it.
	Indexes []index.Order
	// Unindexed includes the items that were kept out of queries.
	Unindexed bool
}

// area is a scope resolved against a container's definition.
type area struct {
	min, max string
	// canon is the logical partition when the scope is one, and then min is its hash.
	canon   string
	logical bool
	// prefix is what the canonical key of a matching item begins with; hashes of different prefixes may collide.
	prefix string
}

// resolve needs topology.
func (c *Container) resolve(s Scope) (area, []*partition, error) {
	d := c.definition
	a := area{min: epk.Min, max: epk.Max}
	switch n := len(s.Key); {
	case n > len(d.Paths):
		return a, nil, badRequest("%s", textMoreKeys)
	case n == len(d.Paths):
		a.min, a.canon, a.logical = d.hash(s.Key), canonical(s.Key), true
		a.max = a.min + epk.Max
	case n > 0:
		a.min, a.max = epk.PrefixRange(d.Scheme, s.Key...)
		a.prefix = canonical(s.Key)
	}
	if s.MinEPK != "" || s.MaxEPK != "" {
		lo, hi := strings.ToUpper(s.MinEPK), strings.ToUpper(s.MaxEPK)
		if !isBound(lo) || !isBound(hi) || hi != "" && epk.Compare(lo, hi) > 0 {
			return a, nil, badRequest("The effective partition key range is invalid: both bounds should be hexadecimal and the start not above the end.")
		}
		if !a.logical {
			// Items are found by comparing hashes as strings, to which a padded bound would lie behind the hash that equals it.
			a.min = higher(a.min, strings.TrimRight(lo, "0"))
			if hi != "" {
				a.max = lower(a.max, hi)
			}
		} else if epk.Compare(a.min, lo) < 0 || hi != "" && epk.Compare(a.min, hi) >= 0 {
			a.max = a.min // outside: nothing matches
			a.logical = false
		}
	}
	partitions := c.partitions
	if s.RangeID != "" {
		p, err := c.rangeByID(s.RangeID)
		if err != nil {
			return a, nil, err
		}
		partitions = []*partition{p}
	}
	if s.OnePartition && !slices.ContainsFunc(partitions, s.within) {
		return a, nil, refuse(http.StatusGone, SubstatusPartitionRangeGone,
			"The range of effective partition keys spans more than one partition key range. Read the ranges again and send one request for each.")
	}
	var hit []*partition
	for _, p := range partitions {
		if a.touches(p) {
			hit = append(hit, p)
		}
	}
	if len(hit) == 0 && s.RangeID != "" {
		if s.Key != nil {
			return a, nil, refuse(http.StatusGone, SubstatusPartitionRangeGone, "The partition key range does not own the partition key of this request. Read the ranges again.")
		}
		hit = partitions // an empty area is answered by the range that was asked
	}
	return a, hit, nil
}

// within reports whether a partition holds all that lies between the scope's bounds. Trailing zeros of a bound count for nothing: clients
// trim them or pad with them.
func (s Scope) within(p *partition) bool {
	return epk.Compare(p.min, strings.ToUpper(s.MinEPK)) <= 0 && epk.Compare(strings.ToUpper(s.MaxEPK), p.max) <= 0
}

func isBound(s string) bool { return strings.Trim(s, "0123456789ABCDEF") == "" }

func higher(a, b string) string {
	if epk.Compare(a, b) >= 0 {
		return a
	}
	return b
}

func lower(a, b string) string {
	if epk.Compare(a, b) <= 0 {
		return a
	}
	return b
}

func (a area) touches(p *partition) bool {
	if a.logical {
		return p.covers(a.min)
	}
	return epk.Compare(a.min, p.max) < 0 && epk.Compare(p.min, a.max) < 0
}

// whole reports whether the area covers all of a partition.
func (a area) whole(p *partition) bool {
	return !a.logical && a.prefix == "" && epk.Compare(a.min, p.min) <= 0 && epk.Compare(p.max, a.max) <= 0
}

// holds reports whether an item lies in the area.
func (a area) holds(it *item) bool {
	if a.logical {
		return it.canon == a.canon
	}
	return epk.Compare(a.min, it.epk) <= 0 && epk.Compare(it.epk, a.max) < 0 && strings.HasPrefix(it.canon, a.prefix)
}

// visible is what every reader asks of an item: has it not expired.
type visible struct {
	ttl *int64
	now time.Time
}

func (v visible) ok(it *item) bool { return it.live(v.ttl, v.now) }

package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Split cuts a range in two at the middle of its hashes, or at the bound given (400, 410/1002). The children have new ids,
// name the range and its parents as their own, and go on with its LSN, so that positions and session tokens of the parent
// hold for them. Requests that name the parent are 410/1002 from then on.
func (c *Container) Split(rangeID string, at ...string) ([]Range, error) {
	c.topology.Lock()
	p, bound, err := c.planSplit(rangeID, at)
	if err != nil {
		c.topology.Unlock()
		return nil, err
	}
	parents := append(slices.Clone(p.parents), p.id)
	left := c.newPartition(p.min, bound, parents, newState())
	right := c.newPartition(bound, p.max, parents, newState())
	for _, child := range []*partition{left, right} {
		child.version = p.version
		child.take(c.definition, p)
	}
	i := slices.Index(c.partitions, p)
	c.partitions = slices.Replace(c.partitions, i, i+1, left, right)
	wait := c.retopologise([]*partition{p}, []*partition{left, right})
	ranges := []Range{left.describe(), right.describe()}
	c.topology.Unlock()
	return ranges, await(wait)
}

func (c *Container) planSplit(rangeID string, at []string) (*partition, string, error) {
	if c.deleted {
		return nil, "", parentNotFound()
	}
	p, err := c.rangeByID(rangeID)
	if err != nil {
		return nil, "", err
	}
	if len(at) > 0 {
		bound := strings.ToUpper(at[0])
		if !isBound(bound) || epk.Compare(p.min, bound) >= 0 || epk.Compare(bound, p.max) >= 0 {
			return nil, "", badRequest("The bound of a split should be hexadecimal and lie inside of the range [%q, %q).", p.min, p.max)
		}
		return p, bound, nil
	}
	bound, ok := epk.Middle(c.definition.Scheme, p.min, p.max)
	if !ok {
		return nil, "", badRequest("The range [%q, %q) is too narrow to split.", p.min, p.max)
	}
	return p, bound, nil
}

// Merge joins two neighbouring ranges (400, 410/1002). The new range goes on with the higher LSN of the two. A reader of
// either parent that goes on with its own position misses nothing, and may see changes of the other range again.
func (c *Container) Merge(rangeA, rangeB string) (Range, error) {
	c.topology.Lock()
	a, b, err := c.planMerge(rangeA, rangeB)
	if err != nil {
		c.topology.Unlock()
		return Range{}, err
	}
	parents := slices.Concat(a.parents, b.parents, []int{a.id, b.id})
	slices.Sort(parents)
	merged := c.newPartition(a.min, b.max, slices.Compact(parents), newState())
	merged.version = max(a.version, b.version) + 1
	merged.take(c.definition, a)
	merged.take(c.definition, b)
	i := slices.Index(c.partitions, a)
	c.partitions = slices.Replace(c.partitions, i, i+2, merged)
	wait := c.retopologise([]*partition{a, b}, []*partition{merged})
	r := merged.describe()
	c.topology.Unlock()
	return r, await(wait)
}

func (c *Container) planMerge(rangeA, rangeB string) (*partition, *partition, error) {
	if c.deleted {
		return nil, nil, parentNotFound()
	}
	a, err := c.rangeByID(rangeA)
	if err != nil {
		return nil, nil, err
	}
	b, err := c.rangeByID(rangeB)
	if err != nil {
		return nil, nil, err
	}
	if epk.Compare(b.min, a.min) < 0 {
		a, b = b, a
	}
	if a == b || a.max != b.min {
		return nil, nil, badRequest("The ranges %s and %s are not neighbours, so they can't be merged.", rangeA, rangeB)
	}
	return a, b, nil
}

// take moves in whatever of another partition belongs here. It needs topology for writing, under which nobody holds a
// partition's lock.
func (p *partition) take(d *Definition, from *partition) {
	from.state.byOrdinal.Scan(func(it *item) bool {
		if p.covers(it.epk) {
			p.state.swap(nil, it, d.DefaultTTL)
		}
		return true
	})
	for _, v := range from.history {
		it := v.after
		if it == nil {
			it = v.before
		}
		if p.covers(it.epk) {
			p.history = append(p.history, v)
		}
	}
	p.sortHistory()
	p.state.lsn = max(p.state.lsn, from.state.lsn)
	p.replica.follow(p.c.lag, p.state)
}

// sortHistory puts versions from several partitions in the order of their LSNs, which a feed follows.
func (p *partition) sortHistory() {
	slices.SortFunc(p.history, func(a, b version) int {
		return cmp.Or(cmp.Compare(a.lsn, b.lsn), cmp.Compare(a.sequence, b.sequence))
	})
}

// retopologise writes down that some ranges took the place of others. It needs topology for writing.
func (c *Container) retopologise(gone, come []*partition) (wait func() error) {
	c.generation++
	unit := []Mutation{c.mutation()}
	for _, p := range gone {
		unit = append(unit, Mutation{Key: p.key()})
	}
	for _, p := range come {
		unit = append(unit, p.mutation())
	}
	wait = c.account.record(unit...)
	for _, p := range come {
		p.durable = wait
	}
	return wait
}

package store

import (
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// partition is one physical partition: the items whose hashes lie in [min, max).
type partition struct {
	c        *Container
	id       int
	min, max string
	// parents are the ids of all ranges that this one came from, oldest first.
	parents []int
	created time.Time
	// version is what session tokens carry before the LSN: a merge makes a new one, a split keeps its parent's.
	version int64

	mu    sync.RWMutex
	state *state
	// page is a clone of state that readers share until the next write.
	page    *state
	history []version
	replica replica
	// recent are the last writes, oldest first.
	recent [][]version
	// durable is how to wait for the last write; nothingToWrite in memory.
	durable func() error
}

// newPartition needs topology, or a container nobody knows yet.
func (c *Container) newPartition(minInclusive, maxExclusive string, parents []int, s *state) *partition {
	p := &partition{
		c: c, id: c.nextRange, min: minInclusive, max: maxExclusive, parents: parents,
		created: c.account.now(), version: firstVersion, state: s, durable: nothingToWrite,
	}
	p.replica.follow(c.lag, s)
	c.nextRange++
	return p
}

// rangeRecord is how the journal keeps a partition; its items are kept on their own and find it by their hash.
type rangeRecord struct {
	ID       int    `json:"id"`
	Min      string `json:"min"`
	Max      string `json:"max"`
	Parents  []int  `json:"parents"`
	Created  int64  `json:"created"`
	LSN      int64  `json:"lsn"`
	Sequence uint64 `json:"sequence"`
	// Merges is how far the version of session tokens is above the first.
	Merges int64 `json:"merges,omitempty"`
}

func (p *partition) key() string { return orderedKey(keyRange, p.c.rid, uint64(p.id)) }

func (p *partition) mutation() Mutation {
	text, err := json.Marshal(rangeRecord{
		ID: p.id, Min: p.min, Max: p.max, Parents: p.parents, Created: p.created.Unix(),
		LSN: p.state.lsn, Sequence: p.c.sequence.Load(), Merges: p.version - firstVersion,
	})
	if err != nil { // numbers and strings of our own making
		text = nil
	}
	return Mutation{Key: p.key(), Value: text}
}

func (p *partition) name() string { return strconv.Itoa(p.id) }

// covers reports whether the partition owns a hash.
func (p *partition) covers(hash string) bool {
	return epk.Compare(p.min, hash) <= 0 && epk.Compare(hash, p.max) < 0
}

// owner finds the partition of a hash. It needs topology.
func (c *Container) owner(hash string) *partition {
	i := sort.Search(len(c.partitions), func(i int) bool { return epk.Compare(hash, c.partitions[i].max) < 0 })
	return c.partitions[min(i, len(c.partitions)-1)]
}

// rangeByID finds a live partition (410/1002). It needs topology.
func (c *Container) rangeByID(id string) (*partition, error) {
	n, err := strconv.Atoi(id)
	if err != nil {
		return nil, rangeGone(id)
	}
	i := slices.IndexFunc(c.partitions, func(p *partition) bool { return p.id == n })
	if i < 0 {
		return nil, rangeGone(id)
	}
	return c.partitions[i], nil
}

// route finds the partition of a full key, and refuses a range id that doesn't own it. It needs topology.
func (c *Container) route(hash, rangeID string) (*partition, error) {
	p := c.owner(hash)
	if rangeID == "" || rangeID == p.name() {
		return p, nil
	}
	if _, err := c.rangeByID(rangeID); err != nil {
		return nil, err
	}
	return nil, refuse(http.StatusGone, SubstatusPartitionRangeGone, "The partition key range does not own the partition key of this request. Read the ranges again.")
}

// resetDeadlines recomputes when items expire. It needs topology for writing.
func (p *partition) resetDeadlines(d *Definition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.deadlines.Clear()
	p.state.byOrdinal.Scan(func(it *item) bool {
		if at, expires := it.expiry(d.DefaultTTL); expires {
			p.state.deadlines.Set(deadline{at: at, it: it})
		}
		return true
	})
	p.page = nil
}

// Range is one physical partition.
type Range struct {
	Resource
	// Min is inclusive, Max exclusive, both hexadecimal.
	Min, Max string
	// Parents are the ids of the ranges that this one came from, oldest first.
	Parents []string
	// LSN is the number of the last write.
	LSN int64
}

// Ranges returns the live ranges in the order of their bounds, and the etag that changes when they do.
func (c *Container) Ranges() (ranges []Range, etag string) {
	c.topology.RLock()
	defer c.topology.RUnlock()
	for _, p := range c.partitions {
		ranges = append(ranges, p.describe())
	}
	return ranges, `"` + strconv.FormatUint(c.generation+1, 10) + `"`
}

// describe needs topology.
func (p *partition) describe() Range {
	p.mu.RLock()
	lsn := p.state.lsn
	p.mu.RUnlock()
	r := Range{Min: p.min, Max: p.max, LSN: lsn, Parents: make([]string, 0, len(p.parents))}
	for _, parent := range p.parents {
		r.Parents = append(r.Parents, strconv.Itoa(parent))
	}
	parents, err := json.Marshal(r.Parents)
	if err != nil {
		parents = []byte("[]")
	}
	rid := childRID(p.c.ridBytes, ridTypeRange, uint64(p.id)+1)
	tree := &node{raw: []byte("{}")}
	tree.set("id", stringNode(p.name()))
	tree.set("minInclusive", stringNode(p.min))
	tree.set("maxExclusive", stringNode(p.max))
	tree.set("ridPrefix", leaf(p.name()))
	tree.set("throughputFraction", leaf(strconv.FormatFloat(1/float64(len(p.c.partitions)), 'g', -1, 64)))
	tree.set("status", stringNode("online"))
	tree.set("parents", &node{raw: parents})
	tree.set("ownedArchivalPKRangeIds", leaf("[]"))
	tree.set("lsn", leaf(strconv.FormatInt(lsn, 10)))
	r.Resource = describe(tree, p.name(), rid, p.c.self+"pkranges/"+rid+"/", uint64(p.id)+1, p.created)
	return r
}

package store

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure an [Account]. The zero value is an account in memory on the wall clock.
type Options struct {
	// Now is the clock: _ts, TTL, the feed's times and the throughput limit follow it. Defaults to time.Now.
	Now func() time.Time
	// Partitions is the number of physical partitions that a new container starts with at least. Defaults to 1.
	Partitions int
	// LogicalPartitionLimit is the number of bytes that one logical partition may hold. Defaults to 20 GB.
	LogicalPartitionLimit int64
	// EnforceThroughput makes [Container.Admit] hold callers to the provisioned throughput. Defaults to no limit.
	EnforceThroughput bool
	// OfferReplaceTime is how long a change of throughput is pending. Defaults to zero: it is over at once.
	OfferReplaceTime time.Duration
	// IndexFrom is how many items a scope must have for a query to build an index, since reading so few takes as long as looking
	// them up. Defaults to 64; negative means never.
	IndexFrom int
	// Journal keeps the account on disk. Defaults to none: the account lives in memory.
	Journal Journal
}

const defaultLogicalPartitionLimit = 20 << 30

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Partitions < 1 {
		o.Partitions = 1
	}
	if o.IndexFrom == 0 {
		o.IndexFrom = defaultIndexFrom
	}
	if o.LogicalPartitionLimit <= 0 {
		o.LogicalPartitionLimit = defaultLogicalPartitionLimit
	}
	return o
}

// Account is one emulated account. Its methods may be called from several goroutines.
type Account struct {
	opts Options

	mu        sync.RWMutex
	databases []*Database
	offers    []*offer
	// serial numbers databases, containers and offers; it never goes back, so no rid or etag is used twice.
	serial uint32
	lag    time.Duration
	parsed *parsedItems
	// visited counts what reads have looked at.
	visited atomic.Int64
}

// New returns an empty account in memory; opts.Journal is ignored.
func New(opts Options) *Account {
	opts.Journal = nil
	return &Account{opts: opts.withDefaults(), parsed: &parsedItems{}}
}

// Open returns the account that opts.Journal holds, or an empty one. It fails when the journal can't be read or holds
// what this version does not understand.
func Open(opts Options) (*Account, error) {
	a := &Account{opts: opts.withDefaults(), parsed: &parsedItems{}}
	if opts.Journal == nil {
		return a, nil
	}
	if err := a.restore(); err != nil {
		return nil, err
	}
	return a, nil
}

// Close makes everything acknowledged durable and releases the journal.
func (a *Account) Close() error {
	if a.opts.Journal == nil {
		return nil
	}
	return a.opts.Journal.Close()
}

func (a *Account) now() time.Time { return a.opts.Now() }

// record hands a unit to the journal. It must be called under the lock that orders the changes; the wait must not.
func (a *Account) record(unit ...Mutation) (wait func() error) {
	if a.opts.Journal == nil || len(unit) == 0 {
		return nothingToWrite
	}
	return a.opts.Journal.Append(unit)
}

// await turns a journal's failure into the answer: the change may or may not have been kept.
func await(wait func() error) error {
	if err := wait(); err != nil {
		return refuse(http.StatusServiceUnavailable, 0,
			"The emulator could not write to its data folder, so the outcome of this request is unknown. Check the disk and restart the emulator.")
	}
	return nil
}

// nextSerial needs a.mu. The counter is part of every unit that uses it.
func (a *Account) nextSerial() (uint32, Mutation) {
	a.serial++
	return a.serial, Mutation{Key: keyAccount, Value: encodeAccount(a.serial)}
}

// SetReplicaLag makes reads of every container, present and future, come from a replica; see [Container.SetReplicaLag].
func (a *Account) SetReplicaLag(d time.Duration) {
	a.mu.Lock()
	a.lag = d
	var containers []*Container
	for _, db := range a.databases {
		containers = append(containers, db.list()...)
	}
	a.mu.Unlock()
	for _, c := range containers {
		c.SetReplicaLag(d)
	}
}

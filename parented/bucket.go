package parented

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Bucket is a document that holds several small children of one parent, so
// that a hundred of them cost one document to read. It is what [Buckets] stores.
type Bucket[E, P any] struct {
	ParentedItem[Bucket[E, P], P]
	// Seq is the bucket's place among those of its parent, from 0.
	Seq int `json:"seq"`
	// Taken counts the entries that were ever put in. A bucket is full when
	// it reaches the capacity, whatever was deleted since.
	Taken int `json:"taken"`
	// Live counts the entries that are there.
	Live int `json:"live"`
	// Entries are in the order in which they arrived.
	Entries []Entry[E] `json:"entries"`
}

// Entry is one child in a bucket.
type Entry[E any] struct {
	// ID is unique among the parent's entries and tells which bucket holds it.
	ID string `json:"id"`
	// Value is the child itself.
	Value E `json:"value"`
}

// BucketConfig says how an entity type of buckets is stored.
type BucketConfig struct {
	Config
	// Capacity is how many entries one document holds, 1 to 10,000. The
	// service's 2 MB for a document end a bucket sooner. Defaults to 100.
	Capacity int
}

// Buckets keeps small children many to a document. Bind it to a parent with
// Under. It is safe for use by many goroutines and processes.
type Buckets[E, P any] struct {
	repo     *Repository[Bucket[E, P], P]
	capacity int

	// locks let appends of this process to one parent take place one after
	// another: together they would all find the same bucket full.
	locks [64]chan struct{}
	seed  maphash.Seed

	mu     sync.Mutex
	newest map[parentKey]int // guesses of where there is room
}

type parentKey struct{ tenant, parent string }

// maxGuesses bounds the memory of what was learnt about parents.
const maxGuesses = 10_000

const defaultCapacity, maxCapacity = 100, 10_000

// NewBuckets is [New] for children that are kept in buckets. E is the child's
// own struct, without a base: its id is the entry's, its tenant and parent are
// the bucket's. Config.EntityType is required, because the Go type of every
// bucket has the same name.
func NewBuckets[E, P any](forest *Forest, parents *repository.Repository[P], container *azcosmos.ContainerClient, cfg BucketConfig) (*Buckets[E, P], error) {
	if cfg.Capacity == 0 {
		cfg.Capacity = defaultCapacity
	}
	if cfg.Capacity < 1 || cfg.Capacity > maxCapacity {
		return nil, &tenantitem.InvalidError{What: "bucket capacity", Reason: fmt.Sprintf("it is %d", cfg.Capacity), Hint: "use 1 to 10,000"}
	}
	if cfg.EntityType == "" {
		return nil, &tenantitem.InvalidError{What: "buckets", Reason: "the entity type is empty", Hint: `name them, as in Config{EntityType: "CommentBucket"}`}
	}
	if parents != nil && !cfg.UniqueParentIDs && !engine.CollectionOf(parents).IDIsUnique() {
		return nil, errDuplicateParents(cfg.EntityType, parents.EntityType(), "a bucket has no fields but its own", "")
	}
	repo, err := New[Bucket[E, P]](forest, parents, container, cfg.Config)
	if err != nil {
		return nil, err
	}
	if err := repo.fullKey(); err != nil {
		return nil, fmt.Errorf("buckets of %s: %w (use the default key, or one with parentId)", cfg.EntityType, err)
	}
	b := &Buckets[E, P]{repo: repo, capacity: cfg.Capacity, newest: map[parentKey]int{}, seed: maphash.MakeSeed()}
	for i := range b.locks {
		b.locks[i] = make(chan struct{}, 1)
	}
	return b, nil
}

// Documents returns the repository of the buckets themselves.
func (b *Buckets[E, P]) Documents() *Repository[Bucket[E, P], P] { return b.repo }

// Under binds the entries of one parent; see [Repository.Under].
func (b *Buckets[E, P]) Under(parent *P) *Entries[E, P] {
	return &Entries[E, P]{buckets: b, scope: b.repo.Under(parent)}
}

// UnderID binds the entries of a parent that is known by its id.
func (b *Buckets[E, P]) UnderID(tenant string, parent tenantitem.Ref[P]) *Entries[E, P] {
	return &Entries[E, P]{buckets: b, scope: b.repo.UnderID(tenant, parent)}
}

// lock keeps appends of a parent apart; the returned function opens it again.
func (b *Buckets[E, P]) lock(ctx context.Context, k parentKey) (func(), error) {
	mutex := b.locks[maphash.Comparable(b.seed, k)%uint64(len(b.locks))]
	select {
	case mutex <- struct{}{}:
		return func() { <-mutex }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *Buckets[E, P]) guess(k parentKey) (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seq, ok := b.newest[k]
	return seq, ok
}

// learn notes where there was room; it only ever moves up.
func (b *Buckets[E, P]) learn(k parentKey, seq int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.newest) >= maxGuesses {
		clear(b.newest)
	}
	b.newest[k] = max(b.newest[k], seq)
}

func (b *Buckets[E, P]) forget(k parentKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.newest, k)
}

// bucketID is derived from the parent's id, so that two writers who find the
// last bucket full make the same next one.
func bucketID(parent string, seq int) string { return fmt.Sprintf("%s.%08d", parent, seq) }

// newest finds the parent's last bucket; -1 is none.
func (e *Entries[E, P]) newest(ctx context.Context) (int, error) {
	last, err := e.scope.First(ctx, repository.All().OrderByDesc("seq"))
	if errors.Is(err, repository.ErrNotFound) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	return last.Seq, nil
}

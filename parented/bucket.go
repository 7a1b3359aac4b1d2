package parented

import (
	"context"
	"errors"
	"fmt"

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
	newest   *newestBuckets
}

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
	if err := repo.children.fullKey(); err != nil {
		return nil, fmt.Errorf("buckets of %s: %w (use the default key, or one with parentId)", cfg.EntityType, err)
	}
	repo.children.buckets = true
	return &Buckets[E, P]{repo: repo, capacity: cfg.Capacity, newest: newNewestBuckets()}, nil
}

// Documents returns the repository of the buckets themselves. They can't be moved to another
// parent, which is [repository.ErrInvalid]: the ids of their entries name them by the one that they have.
func (b *Buckets[E, P]) Documents() *Repository[Bucket[E, P], P] { return b.repo }

// Under binds the entries of one parent; see [RepositoryOf.Under].
func (b *Buckets[E, P]) Under(parent *P) *Entries[E, P] {
	return &Entries[E, P]{buckets: b, scope: b.repo.Under(parent)}
}

// UnderID binds the entries of a parent that is known by its id.
func (b *Buckets[E, P]) UnderID(tenant string, parent tenantitem.Ref[P]) *Entries[E, P] {
	return &Entries[E, P]{buckets: b, scope: b.repo.UnderID(tenant, parent)}
}

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

package registry

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Species is one row of the catalogue: a registered kind of document and where
// it lives. It is read by packages that serve several species at once; see
// [Extension].
type Species struct {
	// EntityType is the stored name, Aliases older ones.
	EntityType string
	Aliases    []string
	// Model is what the Go struct says about its fields.
	Model *tenantitem.Model
	// Parent is the parent's Go type; nil for an aggregate root.
	Parent reflect.Type
	// Container is the id of the container, PartitionKey its key's paths.
	Container    string
	PartitionKey []string
	// Layout is how documents stand there; nil is Grove's own form.
	Layout *repository.Layout

	from      *Declaration
	ttl       time.Duration
	ttlReason string          // why the container's time to live must be on; empty when it need not
	policy    parented.Policy // what a delete leaves
	capacity  int             // of a bucket; 0 is the default
	checkRefs bool            // references are looked for on write

	// Set by Open.
	typed    any // *repository.Repository of the Go type
	children any // *parented.Repository or *parented.Buckets, of a child
	untyped  *engine.Collection
}

// made keeps a species' repository.
func made[T any](s *Species, repo *repository.Repository[T]) {
	s.typed, s.untyped = repo, engine.CollectionOf(repo)
}

// String names the registration, as in "registry.Entity[Note] (app.go:31)".
func (s *Species) String() string { return s.from.String() }

// RequireTombstones makes deletes of this species visible to readers of the
// change feed: a deleted document stays at least so long with its deletedAt
// set, hidden from every repository. A container whose time to live is off
// refuses it. The reason completes "it needs a time to live, because". To be called from
// [Extension].Plan.
func (s *Species) RequireTombstones(keep time.Duration, reason string) {
	s.policy.Tombstone = max(s.policy.Tombstone, keep)
	s.needsTTL(reason)
}

// TTL is how long documents of the species live after their last write, as
// registry.TTL says; 0 is as long as their container's default.
func (s *Species) TTL() time.Duration { return s.ttl }

// Policy says what a delete leaves of a document of this species.
func (s *Species) Policy() parented.Policy { return s.policy }

// Repository returns the species' repository without its Go type; nil before
// the plan is opened. See [BaseOf] for the typed one.
func (s *Species) Repository() *engine.Collection { return s.untyped }

// Attach adds hooks to the species' repository. To be called from
// [Extension].Open.
func (s *Species) Attach(h engine.Hooks) { s.untyped.Attach(h) }

func (s *Species) needsTTL(reason string) {
	if s.ttlReason == "" {
		s.ttlReason = reason
	}
}

// expiry is the hook that gives documents their ttl, or refuses one that would
// do nothing; nil when there is nothing to do.
func (s *Species) expiry(container Container) func(context.Context, string, []any) error {
	if container.DefaultTTL == TTLOff {
		return func(_ context.Context, _ string, entities []any) error {
			for _, e := range entities {
				if metaOf(e).TTL != nil {
					return &tenantitem.InvalidError{
						What:   "ttl",
						Reason: fmt.Sprintf("the time to live of container %q is off, so it would do nothing", container.ID),
						Hint:   "register the species with registry.TTL, or the container with registry.TTLOn",
					}
				}
			}
			return nil
		}
	}
	if s.ttl == 0 {
		return nil
	}
	return func(_ context.Context, _ string, entities []any) error {
		for _, e := range entities {
			if meta := metaOf(e); meta.TTL == nil {
				meta.TTL = new(int(s.ttl / time.Second))
			}
		}
		return nil
	}
}

// metaOf reads what every item has; a repository's entities are items by their
// constructor's constraint.
func metaOf(entity any) *tenantitem.Meta {
	item, ok := entity.(interface{ ItemMeta() *tenantitem.Meta })
	if !ok {
		return &tenantitem.Meta{}
	}
	return item.ItemMeta()
}

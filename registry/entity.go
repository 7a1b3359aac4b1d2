package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// entity is one row of the catalogue: a registered entity type and where
// it lives.
type entity struct {
	catalogue.Entity

	from      *Declaration
	capacity  int  // of a bucket; 0 is the default
	checkRefs bool // references are looked for on write
	uniqueIDs bool // in a tenant, whatever the key allows
	children  any  // *parented.Repository or *parented.Buckets, of a child; set by Open
}

// made keeps an entity type's repository.
func (s *entity) made(repo engine.Bound) {
	s.Repository, s.Collection = repo, engine.CollectionOf(repo)
}

// expiry is the hook that gives documents their ttl, or refuses one that would
// do nothing; nil when there is nothing to do.
func (s *entity) expiry(container Container) engine.ValidatorFunc {
	if container.DefaultTTL == TTLOff {
		return func(_ context.Context, _ string, entities []any) error {
			for _, e := range entities {
				if metaOf(e).TTL != nil {
					return &tenantitem.InvalidError{
						What:   "ttl",
						Reason: fmt.Sprintf("the time to live of container %q is off, so it would do nothing", container.ID),
						Hint:   "register the entity type with registry.TTL, or the container with registry.TTLOn",
					}
				}
			}
			return nil
		}
	}
	if s.TTL == 0 {
		return nil
	}
	return func(_ context.Context, _ string, entities []any) error {
		for _, e := range entities {
			if meta := metaOf(e); meta.TTL == nil {
				meta.TTL = new(int(s.TTL / time.Second))
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

package registry

import (
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

// metaOf reads what every item has; a repository's entities are items by their
// constructor's constraint.
func metaOf(entity any) *tenantitem.Meta {
	item, ok := entity.(interface{ ItemMeta() *tenantitem.Meta })
	if !ok {
		return &tenantitem.Meta{}
	}
	return item.ItemMeta()
}

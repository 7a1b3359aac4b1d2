package repository

import (
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Reader is the reading half of a scope. AllTenants gives one; Scope embeds it.
// A Reader is immutable and may be used by many goroutines.
type Reader[T any] struct {
	repo *Repository[T]
	at   engine.Partition
	reach
}

// reach is how Grove's other packages reach what is behind a scope.
type reach = engine.ScopeHandle

// Scope is a repository bound to one tenant and, where the container's key has
// more levels, to the values given to In. It may be used by many goroutines.
type Scope[T any] struct {
	Reader[T]
}

// In binds a tenant and the values of further levels of the container's
// partition key, in order; the entity type is filled in where it is a level.
// With all levels known the scope is one logical partition and every verb
// works. With fewer it is a prefix: queries only.
//
// Values may be strings, numbers, booleans or types made from them. What is
// wrong with them is returned by the first verb, as [ErrInvalid].
func (r *Repository[T]) In(tenant string, key ...any) *Scope[T] {
	s := &Scope[T]{Reader[T]{repo: r, at: r.core().Resolve(r.core().EntityType(), tenant, key)}}
	s.reach = engine.Reach(r.core(), &s.at)
	return s
}

// Global binds the documents of an entity that belongs to no tenant, such as a
// catalogue, as Layout.Global says, and the values of further levels of the
// key as In does. Nothing keeps tenants apart there. Under [WithTenant] it is
// [ErrTenantMismatch], unless Layout.UnderTenant allows it. For an entity that
// belongs to tenants every verb fails with [ErrInvalid].
func (r *Repository[T]) Global(key ...any) *Scope[T] {
	s := &Scope[T]{Reader[T]{repo: r, at: r.core().Global(key)}}
	s.reach = engine.Reach(r.core(), &s.at)
	return s
}

// AllTenants is the only way to read across tenants. It can't write. Every
// query visits every physical partition of the container, so its cost grows
// with the whole container. Under [WithTenant] it is refused.
func (r *Repository[T]) AllTenants() *Reader[T] {
	all := &Reader[T]{repo: r, at: engine.Partition{All: true, Key: cosmos.NewPartitionKey()}}
	all.reach = engine.Reach(r.core(), &all.at)
	return all
}

// bindEntity makes an entity one of this scope: it fills the tenant, the entity type,
// the id and the key's fields where they are empty, and refuses what
// contradicts the scope. It returns the partition that the entity lives in,
// which differs from the scope's when it is stored under an older name.
func (s *Scope[T]) bindEntity(entity *T, newID bool) (engine.Partition, error) {
	c := s.repo.core()
	if entity == nil {
		return engine.Partition{}, &tenantitem.InvalidError{What: "entity", Reason: "it is nil", Hint: "pass a pointer to a filled struct"}
	}
	meta := s.repo.meta(entity)
	switch meta.TenantID {
	case "":
		meta.TenantID = s.at.Tenant
	case s.at.Tenant:
	default:
		return engine.Partition{}, engine.ErrTenantMismatch
	}
	at := s.at
	switch {
	case meta.EntityType == "" || meta.EntityType == c.EntityType():
		meta.EntityType = c.EntityType()
	case c.IsEntityType(meta.EntityType):
		at = c.Renamed(at, meta.EntityType)
	default:
		return engine.Partition{}, &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its entityType is %q", meta.EntityType), Hint: fmt.Sprintf("leave it empty; this repository stores %q", c.EntityType())}
	}
	if meta.ID == "" && newID {
		id, err := tenantitem.NewID()
		if err != nil {
			return engine.Partition{}, err
		}
		meta.ID = id
	}
	if err := tenantitem.ValidateID(meta.ID); err != nil {
		return engine.Partition{}, err
	}
	value := reflect.ValueOf(entity).Elem()
	if err := c.BindKey(value, at, meta.ETag == ""); err != nil {
		return at, err
	}
	return c.PlaceOfEntity(at, value)
}

// located returns the scope of the one logical partition in which a document
// lies, see engine.Call.Locate.
func (s *Scope[T]) located(at engine.Partition) *Scope[T] {
	l := &Scope[T]{Reader[T]{repo: s.repo, at: at}}
	l.reach = engine.Reach(s.repo.core(), &l.at)
	return l
}

// Tenant returns the tenant that the scope is bound to.
func (r *Reader[T]) Tenant() string { return r.at.Tenant }

package repository

import (
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Reader is the reading half of a scope. AllTenants gives one, and every Scope
// has one. It is immutable and may be used by many goroutines. Its methods are
// Query, First, Page, Count, Sum, Avg, Min, Max, Explain and Tenant, those of
// [ScopeOf].
type Reader[T any] = reader[*T]

type reader[P any] struct {
	scope scope
	reach
}

// Scope is a repository bound to one tenant and, where the container's key has
// more levels, to the values given to In. Its methods are those of [ScopeOf].
type Scope[T any] = ScopeOf[*T]

// ScopeOf is [Scope] over the pointer P of an entity. It may be used by many
// goroutines.
type ScopeOf[P any] struct {
	// Reader reads in the scope.
	Reader reader[P]
	reach
}

// reach is how Grove's other packages reach what is behind a scope.
type reach = engine.ScopeHandle

// scope is a scope without its entity's Go type. What the verbs do is done
// here; entities are pointers to the collection's type. What a new verb needs
// says "Adding a verb" in docs/internals.md.
type scope struct {
	c  *engine.Collection
	at engine.Partition
}

// In binds a tenant and the values of further levels of the container's
// partition key, in order; the entity type is filled in where it is a level.
// With all levels known the scope is one logical partition and every verb
// works. With fewer it is a prefix: queries only.
//
// Values may be strings, numbers, booleans or types made from them. What is
// wrong with them is returned by the first verb, as [ErrInvalid].
//
//go:noinline
func (r *RepositoryOf[P]) In(tenant string, key ...any) *ScopeOf[P] {
	c := engine.CollectionOf(&r.handle)
	return scopeOf[P](c, c.Resolve(c.EntityType(), tenant, key))
}

// Global binds the documents of an entity that belongs to no tenant, such as a
// catalogue, as Layout.Global says, and the values of further levels of the
// key as In does. Nothing keeps tenants apart there. Under [WithTenant] it is
// [ErrTenantMismatch], unless Layout.UnderTenant allows it. For an entity that
// belongs to tenants every verb fails with [ErrInvalid].
//
//go:noinline
func (r *RepositoryOf[P]) Global(key ...any) *ScopeOf[P] {
	c := engine.CollectionOf(&r.handle)
	return scopeOf[P](c, c.Global(key))
}

func scopeOf[P any](c *engine.Collection, at engine.Partition) *ScopeOf[P] {
	s := &ScopeOf[P]{Reader: reader[P]{scope: scope{c, at}}}
	s.reach = engine.Reach(c, &s.Reader.scope.at)
	s.Reader.reach = s.reach
	return s
}

// AllTenants is the only way to read across tenants. It can't write. Every
// query visits every physical partition of the container, so its cost grows
// with the whole container. Under [WithTenant] it is refused.
//
//go:noinline
func (r *RepositoryOf[P]) AllTenants() *reader[P] { //nolint:revive // its exported name is Reader
	return &scopeOf[P](engine.CollectionOf(&r.handle), engine.AllTenants()).Reader
}

// bindEntity makes an entity one of this scope: it fills the tenant, the entity type,
// the id and the key's fields where they are empty, and refuses what
// contradicts the scope. It returns the partition that the entity lives in,
// which differs from the scope's when it is stored under an older name.
func (s *scope) bindEntity(entity any, newID bool) (engine.Partition, error) {
	c := s.c
	if isNil(entity) {
		return engine.Partition{}, &tenantitem.InvalidError{What: "entity", Reason: "it is nil", Hint: "pass a pointer to a filled struct"}
	}
	meta := engine.MetaOf(entity)
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

// isNil reports that an entity is a nil pointer.
func isNil(entity any) bool { return entity == nil || reflect.ValueOf(entity).IsNil() }

// located returns the scope of the one logical partition in which a document
// lies, see engine.Call.Locate.
func (s *scope) located(at engine.Partition) *scope { return &scope{s.c, at} }

// Tenant returns the tenant that the scope is bound to.
//
//go:noinline
func (r *reader[P]) Tenant() string { return r.scope.at.Tenant }

// Tenant returns the tenant that the scope is bound to.
//
//go:noinline
func (s *ScopeOf[P]) Tenant() string { return s.Reader.Tenant() }

package repository

import "github.com/cosmosgrove/grove/internal/engine"

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

// Tenant returns the tenant that the scope is bound to.
//
//go:noinline
func (r *reader[P]) Tenant() string { return r.scope.at.Tenant }

// Tenant returns the tenant that the scope is bound to.
//
//go:noinline
func (s *ScopeOf[P]) Tenant() string { return s.Reader.Tenant() }

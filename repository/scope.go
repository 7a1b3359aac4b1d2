package repository

import (
	"context"
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/tenantitem"
)

// partition is where a scope looks: one logical partition, a prefix of a
// hierarchical key, or everything.
type partition struct {
	tenant string
	values []any // of the leading levels; all of them when full
	full   bool
	all    bool
	// deleted shows the documents that the species hides.
	deleted bool
	// mixed shows the documents of every species.
	mixed bool
	key   azcosmos.PartitionKey // set when full
	// physical narrows a partition that is not full to one physical one, and
	// min and max to a part of that one's keys.
	physical *physical
	min, max string
	err      error // what was wrong with In's arguments
}

// resolve completes a tenant and further key values to a partition. A level
// that is the entity type is filled by the repository.
func (c *core) resolve(entityType, tenant string, more []any) partition {
	p := partition{tenant: tenant, values: make([]any, 0, len(c.levels))}
	next, size := 0, 0
	for i, level := range c.levels {
		var v any
		switch {
		case i == 0:
			v = tenant
		case level.isEntityType():
			v = entityType
		case next < len(more):
			v = more[next]
			next++
		default:
			p.key = partitionKey(p.values)
			return p
		}
		value, err := level.value(v)
		if err != nil {
			p.err = err
			return p
		}
		p.values = append(p.values, value)
		text, _ := value.(string)
		if size += len(text); size > tenantitem.MaxKeyBytes {
			p.err = &tenantitem.InvalidError{What: "partition key", Reason: fmt.Sprintf("its values are longer than %d bytes together", tenantitem.MaxKeyBytes), Hint: "use shorter ones"}
			return p
		}
	}
	if next < len(more) {
		p.err = &tenantitem.InvalidError{
			What:   "scope",
			Reason: fmt.Sprintf("%d values were given beside the tenant and the key has room for %d", len(more), next),
			Hint:   "In takes one value for each level of the container's partition key, in order; the entity type is added by itself",
		}
		return p
	}
	p.full = true
	p.key = partitionKey(p.values)
	return p
}

// given is the opposite of resolve: the values that In takes beside the tenant.
func (c *core) given(values []any) []any {
	var more []any
	for i, v := range values {
		if i > 0 && !c.levels[i].isEntityType() {
			more = append(more, v)
		}
	}
	return more
}

// requireFull is the check of every verb that is about one document.
func (p *partition) requireFull(c *core) error {
	switch {
	case p.err != nil:
		return p.err
	case p.full:
		return nil
	case p.all:
		return &tenantitem.InvalidError{What: "scope", Reason: "all tenants can only be read with queries", Hint: "use In(tenant)"}
	}
	return &tenantitem.InvalidError{
		What:   "scope",
		Reason: fmt.Sprintf("it names %d of %d levels of the partition key", len(p.values), len(c.levels)),
		Hint:   fmt.Sprintf("give In a value for %q too; a prefix serves queries only", c.levels[len(p.values)].path),
	}
}

// fence checks a scope against the tenant that the context is bound to.
func (p *partition) checkTenant(ctx context.Context) error {
	tenant, bound := TenantFrom(ctx)
	if !bound || tenant == p.tenant && !p.all {
		return nil
	}
	return ErrTenantMismatch
}

// Reader is the reading half of a scope. AllTenants gives one; Scope embeds it.
// A Reader is immutable and may be used by many goroutines.
type Reader[T any] struct {
	repo *Repository[T]
	at   partition
}

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
	return &Scope[T]{Reader[T]{repo: r, at: r.core.resolve(r.core.entityType, tenant, key)}}
}

// AllTenants is the only way to read across tenants. It can't write. Every
// query visits every physical partition of the container, so its cost grows
// with the whole container. Under [WithTenant] it is refused.
func (r *Repository[T]) AllTenants() *Reader[T] {
	return &Reader[T]{repo: r, at: partition{all: true, key: azcosmos.NewPartitionKey()}}
}

// adopt makes an entity one of this scope: it fills the tenant, the species,
// the id and the key's fields where they are empty, and refuses what
// contradicts the scope. It returns the partition that the entity lives in,
// which differs from the scope's when it is stored under an older name.
func (s *Scope[T]) bindEntity(entity *T, newID bool) (partition, error) {
	c := s.repo.core
	if entity == nil {
		return partition{}, &tenantitem.InvalidError{What: "entity", Reason: "it is nil", Hint: "pass a pointer to a filled struct"}
	}
	meta := s.repo.meta(entity)
	switch meta.TenantID {
	case "":
		meta.TenantID = s.at.tenant
	case s.at.tenant:
	default:
		return partition{}, ErrTenantMismatch
	}
	at := s.at
	switch {
	case meta.EntityType == "" || meta.EntityType == c.entityType:
		meta.EntityType = c.entityType
	case c.isSpecies(meta.EntityType):
		at = c.renamed(at, meta.EntityType)
	default:
		return partition{}, &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its entityType is %q", meta.EntityType), Hint: fmt.Sprintf("leave it empty; this repository stores %q", c.entityType)}
	}
	if meta.ID == "" && newID {
		id, err := tenantitem.NewID()
		if err != nil {
			return partition{}, err
		}
		meta.ID = id
	}
	if err := tenantitem.ValidateID(meta.ID); err != nil {
		return partition{}, err
	}
	return at, c.bindKey(reflect.ValueOf(entity).Elem(), at, meta.ETag == "")
}

// adoptKey compares the entity's key fields with the scope's values, and fills
// those that are empty: in a new entity a zero number or false, too. In one
// that was read these are values.
func (c *core) bindKey(entity reflect.Value, at partition, isNew bool) error {
	if !c.customKey {
		return nil
	}
	for i, level := range c.levels {
		if i == 0 || level.isEntityType() {
			continue
		}
		field, ok := level.field.Value(entity)
		if !ok {
			return &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("a nil pointer stands before its key field %q", level.path), Hint: "fill it"}
		}
		if field.CanSet() && (level.isEmpty(field) || isNew && field.IsZero()) {
			if err := level.set(field, at.values[i]); err != nil {
				return &tenantitem.InvalidError{What: "partition key value " + level.path, Reason: err.Error(), Hint: "give In a value of the field's type"}
			}
			continue
		}
		if field.CanSet() && field.CanFloat() && field.Float() == 0 {
			field.SetFloat(0) // and not -0, which the service does not know
		}
		have, err := level.value(field.Interface())
		if err != nil {
			return err
		}
		if have != at.values[i] {
			return &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its %q is not the one that the scope names", level.path), Hint: "open the scope with the entity's own key values"}
		}
	}
	return nil
}

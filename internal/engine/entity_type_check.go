package engine

import (
	"context"
	"encoding/json"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/layout"
)

// Where the container's key does not hold the entity type, or not the tenant,
// an id may lead to a document of another entity type or tenant in the same
// logical partition. What writes without having read looks first: a patch by
// its condition, a delete and an overwrite by the query below. A document that
// is deleted, and whose id another entity type or tenant takes, between the look
// and the write is not told apart; an etag does that.

// mayMeet reports whether other entity types can lie in the same logical partition.
func (c *Collection) mayMeet() bool {
	for _, level := range c.levels {
		if level.isEntityType() {
			return false
		}
	}
	return !c.layout.Typeless()
}

// tenantsMeet reports whether several tenants can lie in the same logical
// partition. A level that is computed from the tenant may be the same for two.
func (c *Collection) tenantsMeet() bool {
	for _, level := range c.levels {
		if level.source.Kind == layout.FromTenant {
			return false
		}
	}
	return !c.layout.Global()
}

// LooksFirst reports whether a write of a whole document, or a delete, looks
// first whose document it is about to meet. That is known of one that was read
// with its marks, and not of one whose etag alone was handed on.
func (c *Collection) LooksFirst(etag string, before *Marked) bool {
	return etag == "" && c.mayMeet() || before == nil && c.tenantsMeet()
}

// ours hold for the documents of the entity type and the tenant, as far as
// others can lie in the same logical partition.
func (c *Collection) ours(tenant string) []Predicate {
	var out []Predicate
	if c.mayMeet() {
		out = append(out, c.ofEntityType())
	}
	if c.tenantsMeet() {
		out = append(out, Eq(tenantField, tenant))
	}
	return out
}

// ofEntityType holds for the documents of the entity type.
func (c *Collection) ofEntityType() Predicate {
	names := append([]string{c.entityType}, c.aliases...)
	ours := In(entityField, Anys(names)...)
	if c.layout.TypeOptional() {
		return Or(ours, Missing(entityField))
	}
	return ours
}

// isUntyped reports that a row has no entity type and is of this entity type all
// the same.
func (c *Collection) isUntyped(row []byte) bool {
	if !c.layout.TypeOptional() {
		return false
	}
	typed := false
	codec.Members(row, func(name string, _ []byte) { typed = typed || name == entityField })
	return !typed
}

// foreign returns those of the ids that documents of other entity types or
// tenants have, and what is wrong with each.
func (k *Call) foreign(ctx context.Context, at *Partition, ids []string) (map[string]error, error) {
	c := k.Collection
	types, tenants := c.mayMeet(), c.tenantsMeet()
	if len(ids) == 0 || !types && !tenants {
		return nil, nil
	}
	w := SQLWriter{layout: c.layout}
	w.Text.WriteString(`SELECT VALUE {"id": c["id"]`)
	if types {
		w.Text.WriteString(`, "entityType": c["` + entityField + `"]`)
	}
	if tenants {
		w.Text.WriteString(`, "tenantId": c["` + tenantField + `"]`)
	}
	w.Text.WriteString(`} FROM c WHERE `)
	if err := In("id", Anys(ids)...).Write(&w); err != nil {
		return nil, err
	}
	st := Statement{Text: w.Text.String(), Params: w.Params}
	found := map[string]error{}
	err := EachPage(ctx, k, at, st, 0, func(rows []json.RawMessage) (bool, error) {
		for _, row := range rows {
			h := readHeader(row)
			switch {
			case tenants && h.TenantID != at.Tenant:
				found[h.ID] = ErrTenantMismatch
			case types && !c.IsEntityType(h.EntityType) && !c.isUntyped(row):
				found[h.ID] = ErrEntityMismatch
			}
		}
		return true, nil
	})
	return found, err
}

// RefuseForeign fails when one of the ids is that of another entity type's or
// tenant's document.
func (k *Call) RefuseForeign(ctx context.Context, at *Partition, ids ...string) error {
	found, err := k.foreign(ctx, at, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if found[id] != nil {
			return found[id]
		}
	}
	return nil
}

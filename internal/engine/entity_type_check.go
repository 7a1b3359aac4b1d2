package engine

import (
	"context"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Where the container's key does not hold the entity type, an id may lead to a
// document of another species in the same logical partition. What writes
// without having read looks first: a patch by its condition, a delete by the
// query below. A document that is deleted, and whose id another species takes,
// between the look and the delete is not told apart; an etag does that.

// mayMeet reports whether other species can lie in the same logical partition.
func (c *Collection) mayMeet() bool {
	for _, level := range c.levels {
		if level.isEntityType() {
			return false
		}
	}
	return true
}

// ofSpecies holds for the documents of the species.
func (c *Collection) ofSpecies() Predicate {
	names := append([]string{c.entityType}, c.aliases...)
	return In(entityField, Anys(names)...)
}

// foreign returns those of the ids that documents of other species have.
func (k *Call) foreign(ctx context.Context, at *Partition, ids []string) (map[string]bool, error) {
	if len(ids) == 0 || !k.Collection.mayMeet() {
		return nil, nil
	}
	w := SQLWriter{}
	w.Text.WriteString("SELECT c.id, c." + entityField + " FROM c WHERE ")
	if err := In("id", Anys(ids)...).Write(&w); err != nil {
		return nil, err
	}
	st := Statement{Text: w.Text.String(), Params: w.Params}
	found := map[string]bool{}
	for from := ""; ; {
		rows, next, err := FetchPage[tenantitem.Meta](ctx, k, at, st, from, 0)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if !k.Collection.IsSpecies(row.EntityType) {
				found[row.ID] = true
			}
		}
		if next == "" {
			return found, nil
		}
		from = next
	}
}

// refuseForeign fails when one of the ids is that of another species' document.
func (k *Call) RefuseForeign(ctx context.Context, at *Partition, ids ...string) error {
	found, err := k.foreign(ctx, at, ids)
	if err == nil && len(found) > 0 {
		err = ErrEntityMismatch
	}
	return err
}

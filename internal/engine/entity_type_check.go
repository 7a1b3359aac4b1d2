package engine

import (
	"context"
	"encoding/json"

	"github.com/cosmosgrove/grove/internal/codec"
)

// Where the container's key does not hold the entity type, an id may lead to a
// document of another entity type in the same logical partition. What writes
// without having read looks first: a patch by its condition, a delete by the
// query below. A document that is deleted, and whose id another entity type takes,
// between the look and the delete is not told apart; an etag does that.

// mayMeet reports whether other entity types can lie in the same logical partition.
func (c *Collection) mayMeet() bool {
	for _, level := range c.levels {
		if level.isEntityType() {
			return false
		}
	}
	return !c.layout.Typeless()
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

// foreign returns those of the ids that documents of other entity types have.
func (k *Call) foreign(ctx context.Context, at *Partition, ids []string) (map[string]bool, error) {
	if len(ids) == 0 || !k.Collection.mayMeet() || k.Collection.layout.Typeless() {
		return nil, nil
	}
	w := SQLWriter{layout: k.Collection.layout}
	w.Text.WriteString(`SELECT VALUE {"id": c.id, "entityType": c.` + entityField + `} FROM c WHERE `)
	if err := In("id", Anys(ids)...).Write(&w); err != nil {
		return nil, err
	}
	st := Statement{Text: w.Text.String(), Params: w.Params}
	found := map[string]bool{}
	err := EachPage(ctx, k, at, st, 0, func(rows []json.RawMessage) (bool, error) {
		for _, row := range rows {
			if h := readHeader(row); !k.Collection.IsEntityType(h.EntityType) && !k.Collection.isUntyped(row) {
				found[h.ID] = true
			}
		}
		return true, nil
	})
	return found, err
}

// RefuseForeign fails when one of the ids is that of another entity type's document.
func (k *Call) RefuseForeign(ctx context.Context, at *Partition, ids ...string) error {
	found, err := k.foreign(ctx, at, ids)
	if err == nil && len(found) > 0 {
		err = ErrEntityMismatch
	}
	return err
}

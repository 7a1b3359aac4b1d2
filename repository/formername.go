package repository

import (
	"context"
	"net/http"
	"slices"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Where the container's key holds the entity type, a document that was stored
// under an older name lies in another logical partition, where the service does
// not see that its id is taken. So it is looked for before an id is used. The
// look and the write are two requests: a process that still writes under the
// older name may come between them.

// otherHomes are the logical partitions, beside this one, in which the scope's
// documents may lie.
func (c *core) otherPartitions(at partition) []partition {
	var out []partition
	for _, name := range append([]string{c.entityType}, c.aliases...) {
		if moved := c.renamed(at, name); !slices.Equal(moved.values, at.values) {
			out = append(out, moved)
		}
	}
	return out
}

// takenElsewhere returns the entity type under which each of the ids is stored
// in another logical partition than the one that is about to be written to.
// Documents that are only kept for a while do not count.
func (k *call) takenElsewhere(ctx context.Context, at partition, ids []string) (map[string]string, error) {
	taken := map[string]string{}
	for _, home := range k.core.otherPartitions(at) {
		home.deleted = at.deleted
		for chunk := range slices.Chunk(ids, maxIDsPerQuery) {
			if err := k.findTaken(ctx, home, chunk, taken); err != nil {
				return nil, err
			}
		}
	}
	return taken, nil
}

func (k *call) findTaken(ctx context.Context, home partition, ids []string, taken map[string]string) error {
	if len(ids) == 1 {
		one := call{core: k.core, op: k.op, at: k.at, id: ids[0], watch: k.watch}
		raw, err := one.readItem(ctx, &home)
		if statusOf(err) == http.StatusNotFound {
			return nil
		}
		if h := readHeader(raw); err == nil && k.core.isSpecies(h.EntityType) && (!k.core.tombstones || h.DeletedAt == "") {
			taken[ids[0]] = h.EntityType
		}
		return err
	}
	type found struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	}
	st, err := k.core.compile(&home, Where(In("id", anys(ids)...)), `SELECT VALUE {"id": `+fieldSQL("id")+`, "type": `+fieldSQL(entityField)+`} FROM `+rootAlias)
	if err != nil {
		return err
	}
	for from := ""; ; {
		rows, next, err := fetchPage[found](ctx, k, &home, st, from, 0)
		if err != nil {
			return err
		}
		for _, row := range rows {
			taken[row.ID] = row.Type
		}
		if next == "" {
			return nil
		}
		from = next
	}
}

// refuseTaken is ErrConflict for a new document whose id is taken under an
// older name.
func (k *call) refuseTaken(ctx context.Context, at partition) error {
	taken, err := k.takenElsewhere(ctx, at, []string{k.id})
	if err == nil && len(taken) > 0 {
		err = &refusal{status: http.StatusConflict}
	}
	return err
}

// whereTaken moves an overwriting to the document that is stored under an
// older name, if there is one. The entity gets that name.
func (s *Scope[T]) whereTaken(ctx context.Context, k *call, at partition, entity *T) (partition, error) {
	taken, err := k.takenElsewhere(ctx, at, []string{k.id})
	if name, ok := taken[k.id]; ok && err == nil {
		s.repo.meta(entity).EntityType = name
		return k.core.renamed(at, name), nil
	}
	return at, err
}

// refuseTakenOps is refuseTaken for the operations of a batch.
func (k *call) refuseTakenOps(ctx context.Context, ops []operation) error {
	var ids []string
	for i := range ops {
		if ops[i].kind == opCreate || ops[i].kind == opUpsert {
			ids = append(ids, ops[i].id)
		}
	}
	if len(ids) == 0 || len(k.core.otherPartitions(*k.at)) == 0 {
		return nil
	}
	taken, err := k.takenElsewhere(ctx, *k.at, ids)
	if err != nil {
		return err
	}
	for i := range ops {
		if _, ok := taken[ops[i].id]; !ok {
			continue
		}
		switch ops[i].kind {
		case opCreate:
			return &BatchError{Index: i, Verb: ops[i].kind.String(), ID: ops[i].id, Status: http.StatusConflict}
		case opUpsert:
			return &tenantitem.InvalidError{What: "entity", Reason: "its id is stored under an older entity type, in another logical partition", Hint: "write it on its own"}
		}
	}
	return nil
}

// dropTaken takes the items out of a bulk whose ids are taken under an older
// name.
func (s *Scope[T]) dropTaken(ctx context.Context, b *bulk, items []*bulkItem, entities []*T) ([]*bulkItem, []*T) {
	groups := map[string][]int{}
	for i, item := range items {
		if s.repo.meta(entities[i]).ETag == "" && len(s.repo.core.otherPartitions(item.at)) > 0 {
			groups[keyText(item.at.values)] = append(groups[keyText(item.at.values)], i)
		}
	}
	drop := map[int]error{}
	for _, group := range groups {
		ids := make([]string, len(group))
		for n, i := range group {
			ids[n] = items[i].op.id
		}
		taken, err := b.call.takenElsewhere(ctx, items[group[0]].at, ids)
		for _, i := range group {
			if _, ok := taken[items[i].op.id]; ok && err == nil {
				drop[i] = &refusal{status: http.StatusConflict}
			} else if err != nil {
				drop[i] = err
			}
		}
	}
	if len(drop) == 0 {
		return items, entities
	}
	keptItems, keptEntities := make([]*bulkItem, 0, len(items)), make([]*T, 0, len(items))
	for i := range items {
		if err, ok := drop[i]; ok {
			b.fail(items[i], err)
			continue
		}
		keptItems, keptEntities = append(keptItems, items[i]), append(keptEntities, entities[i])
	}
	return keptItems, keptEntities
}

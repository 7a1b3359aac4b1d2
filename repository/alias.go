package repository

import (
	"context"
	"net/http"

	"github.com/cosmosgrove/grove/internal/engine"
)

// whereToUpsert moves an overwriting to the document that is stored under an
// older name, if there is one. The entity gets that name.
func (s *scope) whereToUpsert(ctx context.Context, k *engine.Call, at engine.Partition, entity any) (engine.Partition, engine.Document, error) {
	found, where, err := k.FindElsewhere(ctx, at)
	if err != nil || found.ID == "" {
		return at, engine.Document{}, err
	}
	engine.MetaOf(entity).EntityType = found.EntityType
	return where, found, nil
}

// whereToCreate refuses an id that is taken under an older name. What was deleted under that name, and is kept, is
// to be written over where it stands, so that no restore finds two documents of one id; it has no id where there is none.
func (s *scope) whereToCreate(ctx context.Context, k *engine.Call, at engine.Partition, entity any) (where engine.Partition, kept engine.Document, err error) {
	for attempts := 0; ; attempts++ {
		found, where, err := k.FindElsewhere(ctx, at)
		switch {
		case err != nil || found.ID == "":
			return at, engine.Document{}, err
		case !k.Collection.Tombstones || found.DeletedAt == "" || attempts > maxFinished:
			return at, found, &engine.Refusal{Status: http.StatusConflict}
		case found.TTL > 0:
			engine.MetaOf(entity).EntityType = found.EntityType
			return where, found, nil
		}
		if err := finishDelete(ctx, k, at.Tenant, found, &engine.Refusal{Status: http.StatusConflict}); err != nil {
			return at, found, err
		}
	}
}

// dropTaken takes the items out of a bulk whose ids are taken under an older
// name.
func (s *scope) dropTaken(ctx context.Context, b *engine.Bulk, items []*engine.BulkItem, entities []any) ([]*engine.BulkItem, []any) {
	groups := map[string][]int{}
	for i, item := range items {
		if engine.MetaOf(entities[i]).ETag == "" && len(s.c.OtherPartitions(item.At)) > 0 {
			groups[engine.KeyText(item.At.Values)] = append(groups[engine.KeyText(item.At.Values)], i)
		}
	}
	drop := map[int]error{}
	for _, group := range groups {
		ids := make([]string, len(group))
		for n, i := range group {
			ids[n] = items[i].Op.ID
		}
		taken, err := b.Call.TakenElsewhere(ctx, items[group[0]].At, ids)
		for _, i := range group {
			if _, ok := taken[items[i].Op.ID]; ok && err == nil {
				drop[i] = &engine.Refusal{Status: http.StatusConflict}
			} else if err != nil {
				drop[i] = err
			}
		}
	}
	if len(drop) == 0 {
		return items, entities
	}
	keptItems, keptEntities := make([]*engine.BulkItem, 0, len(items)), make([]any, 0, len(items))
	for i := range items {
		if err, ok := drop[i]; ok {
			b.Fail(items[i], err)
			continue
		}
		keptItems, keptEntities = append(keptItems, items[i]), append(keptEntities, entities[i])
	}
	return keptItems, keptEntities
}

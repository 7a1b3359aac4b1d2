package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Upsert stores the document whatever is there: the named way to overwrite. It
// ignores and renews the entity's ETag, so it can undo another writer's change
// and bring a deleted document back. In a partition that several entity types or
// tenants share it first asks, for about 3 RU, whether the id is that of another
// one's document, which is [ErrEntityMismatch] or [ErrTenantMismatch].
//
//go:noinline
func (s *ScopeOf[P]) Upsert(ctx context.Context, entity P) error {
	return s.Reader.scope.Upsert(ctx, entity)
}

func (s *scope) Upsert(ctx context.Context, entity any) error {
	k := engine.Call{Collection: s.c, Op: "Upsert", At: &s.at}
	ctx = s.c.WithJoinedRead(k.Begin(ctx))
	return k.End(s.upsert(ctx, &k, entity))
}

func (s *scope) upsert(ctx context.Context, k *engine.Call, entity any) error {
	at, err := s.startWrite(ctx, k, entity, engine.Overwrites)
	if err != nil {
		return err
	}
	if k.Collection.LooksFirst("", nil) {
		if err := k.RefuseForeign(ctx, &at, k.ID); err != nil {
			return err
		}
	}
	for attempts := 0; ; attempts++ {
		where, over, err := s.whereToUpsert(ctx, k, at, entity)
		if err != nil {
			return err
		}
		hidden, err := s.beforeOne(ctx, entity, engine.Overwrites, nil)
		if err != nil {
			return err
		}
		mark := k.Collection.Mark()
		body, err := s.encode(entity, []string{engine.OverwrittenRoot + mark}, hidden)
		if err != nil {
			return err
		}
		var etag string
		created := false
		if over.ID == "" {
			etag, created, err = k.UpsertItem(ctx, &where, entity, body, mark)
		} else {
			etag, err = k.ReplaceItem(ctx, &where, entity, body, mark, over.ETag, nil)
		}
		// What was found under an older name has changed, or is gone.
		if over.ID != "" && engine.IsRefusal(err) && attempts < maxUpserts {
			engine.MetaOf(entity).EntityType = k.Collection.EntityType()
			continue
		}
		if err != nil {
			return err
		}
		s.written(entity, etag, body)
		return s.afterWrite(ctx, created, entity)
	}
}

// maxUpserts is how often an upsert of a document under an older name looks for it again.
const maxUpserts = 20

package repository

import (
	"context"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
)

// beforeOne lets hooks see an entity before it is encoded. It returns the hidden
// members.
func (s *scope) beforeOne(ctx context.Context, entity any, kind engine.WriteKind, before []byte) ([]byte, error) {
	if !s.c.SeesWrites() {
		return nil, nil
	}
	w := engine.WriteOf(s.at.Tenant, []any{entity})
	w.New[0], w.Before[0] = kind == engine.Creates, before
	err := s.c.BeforeWrite(ctx, w)
	return w.Hidden[0], err
}

func (s *scope) afterWrite(ctx context.Context, created bool, entities ...any) error {
	if !s.c.Observed() || len(entities) == 0 {
		return nil
	}
	return s.c.AfterWrite(ctx, s.at.Tenant, entities, created)
}

// written carries the answer of a write back into the entity. The answer has
// no timestamp, so the old one would be a lie.
func (s *scope) written(entity any, etag string, body []byte) {
	meta := engine.MetaOf(entity)
	meta.ETag, meta.TS = etag, 0
	documents.Wrote(entity, body)
}

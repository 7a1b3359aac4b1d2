package repository

import (
	"context"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
)

// beforeOne lets hooks see an entity before it is encoded. It returns the hidden
// members.
func (s *Scope[T]) beforeOne(ctx context.Context, entity *T, kind engine.WriteKind, before []byte) ([]byte, error) {
	if !s.repo.core().SeesWrites() {
		return nil, nil
	}
	w := engine.WriteOf(s.at.Tenant, []*T{entity})
	w.New[0], w.Before[0] = kind == engine.Creates, before
	err := s.repo.core().BeforeWrite(ctx, w)
	return w.Hidden[0], err
}

func (s *Scope[T]) afterWrite(ctx context.Context, created bool, entities ...*T) error {
	if !s.repo.core().Observed() || len(entities) == 0 {
		return nil
	}
	erased := make([]any, len(entities))
	for i, e := range entities {
		erased[i] = e
	}
	return s.repo.core().AfterWrite(ctx, s.at.Tenant, erased, created)
}

// written carries the answer of a write back into the entity. The answer has
// no timestamp, so the old one would be a lie.
func (s *Scope[T]) written(entity *T, etag string, body []byte) {
	meta := s.repo.meta(entity)
	meta.ETag, meta.TS = etag, 0
	documents.Wrote(entity, body)
}

package repository

import (
	"context"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
)

// beforeWrite lets hooks see entities before they are encoded.
func (s *Scope[T]) beforeWrite(ctx context.Context, w *engine.Write) error {
	for _, hook := range s.repo.core().Hooks.BeforeWrite {
		if err := hook(ctx, w.TenantID, w.Entities); err != nil {
			return err
		}
	}
	for _, hook := range s.repo.core().Hooks.Fill {
		if err := hook(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// beforeOne is beforeWrite for a write of one entity; it returns the hidden
// members.
func (s *Scope[T]) beforeOne(ctx context.Context, entity *T, kind engine.WriteKind, before []byte) ([]byte, error) {
	if !s.repo.core().Hooks.SeeWrites() {
		return nil, nil
	}
	w := engine.WriteOf(s.at.Tenant, []*T{entity})
	w.New[0], w.Before[0] = kind == engine.Creates, before
	err := s.beforeWrite(ctx, w)
	return w.Hidden[0], err
}

func (s *Scope[T]) afterWrite(ctx context.Context, created bool, entities ...*T) error {
	hooks := s.repo.core().Hooks.AfterWrite
	if len(hooks) == 0 || len(entities) == 0 {
		return nil
	}
	erased := make([]any, len(entities))
	for i, e := range entities {
		erased[i] = e
	}
	for _, hook := range hooks {
		if err := hook(ctx, s.at.Tenant, erased, created); err != nil {
			return engine.Foreign(err)
		}
	}
	return nil
}

// written carries the answer of a write back into the entity. The answer has
// no timestamp, so the old one would be a lie.
func (s *Scope[T]) written(entity *T, etag string, body []byte) {
	meta := s.repo.meta(entity)
	meta.ETag, meta.TS = etag, 0
	documents.Wrote(entity, body)
}

package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Save creates the document when the entity has no ETag and replaces it when
// it has one, so that it can neither overwrite another writer's change nor
// bring a deleted document back. Errors are those of Create and Replace.
//
//go:noinline
func (s *ScopeOf[P]) Save(ctx context.Context, entity P) error {
	return conflictOf[P](s.Reader.scope.Save(ctx, entity))
}

func (s *scope) Save(ctx context.Context, entity any) error {
	k := engine.Call{Collection: s.c, Op: "Save", At: &s.at}
	ctx = s.c.WithJoinedRead(k.Begin(ctx))
	if isNil(entity) || engine.MetaOf(entity).ETag == "" {
		return k.End(s.create(ctx, &k, entity))
	}
	return k.End(s.replace(ctx, &k, entity))
}

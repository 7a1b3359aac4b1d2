package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Restore brings back a document that was deleted softly, with the descendants
// that were deleted with it. It fails with [ErrNotFound] when there is no such
// document or when it is being purged, with [ErrConflict] when it was not
// deleted, and with [ErrDanglingRef] when it belongs to a parent that is gone.
//
//go:noinline
func (s *ScopeOf[P]) Restore(ctx context.Context, id string) error {
	return s.Reader.scope.Restore(ctx, id)
}

func (s *scope) Restore(ctx context.Context, id string) error {
	return s.changeDeleted(ctx, "Restore", id, engine.DeletePolicy.Restore)
}

// Purge removes a document that was deleted softly before its time, with the
// descendants that were deleted with it. Where an entity type leaves tombstones for
// the readers of the change feed, these stay for their time, hidden. It fails
// with [ErrNotFound] when there is no such document, or when it was purged
// before, and with [ErrConflict] when it was not deleted or is being restored.
//
//go:noinline
func (s *ScopeOf[P]) Purge(ctx context.Context, id string) error {
	return s.Reader.scope.Purge(ctx, id)
}

func (s *scope) Purge(ctx context.Context, id string) error {
	return s.changeDeleted(ctx, "Purge", id, engine.DeletePolicy.Purge)
}

// changeDeleted is what Restore and Purge share.
func (s *scope) changeDeleted(ctx context.Context, op, id string, verb func(engine.DeletePolicy, context.Context, engine.Deletion) error) error {
	k := engine.Call{Collection: s.c, Op: op, At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	s, err := s.startPoint(ctx, &k)
	if err != nil {
		return k.End(err)
	}
	policy := k.Collection.DeletePolicy()
	if policy == nil {
		return k.End(k.Collection.NotSoftlyDeleted(op))
	}
	return k.End(verb(policy, ctx, engine.Deletion{TenantID: s.at.Tenant, Key: s.c.Given(s.at.Values), ID: id}))
}

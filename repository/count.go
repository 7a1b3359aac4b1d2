package repository

import (
	"context"
)

// Count is [ScopeOf.Count].
//
//go:noinline
func (r *reader[P]) Count(ctx context.Context, q Query) (int64, error) {
	return r.scope.Count(ctx, q)
}

// Count returns how many documents q looks for. The order of q does not
// matter; its limit does.
//
//go:noinline
func (s *ScopeOf[P]) Count(ctx context.Context, q Query) (int64, error) {
	return s.Reader.scope.Count(ctx, q)
}

func (s *scope) Count(ctx context.Context, q Query) (int64, error) {
	return s.c.CountIn(ctx, &s.at, q.inner())
}

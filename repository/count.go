package repository

import (
	"context"
)

// Count returns how many documents q looks for. The order of q does not
// matter; its limit does.
func (r *Reader[T]) Count(ctx context.Context, q Query) (int64, error) {
	return r.repo.core().CountIn(ctx, &r.at, q.inner())
}

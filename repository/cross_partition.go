package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// The gateway serves filters and projections over several partitions and
// nothing else. Sorting, limits and aggregates are therefore asked of every
// physical partition by itself and put together here. A scope's documents that
// lie in several logical partitions, because the entity type has older names, are
// read in the same way.

func (r *Reader[T]) eachAcross(ctx context.Context, k *engine.Call, q engine.Query, yield func(*T, error) bool) error {
	return engine.ReadAcross(ctx, k, q, engine.RootAlias, r.checkRow, func(row *row[T]) bool { return yield(row.value, row.err) })
}

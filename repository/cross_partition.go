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

func (s *scope) eachAcross(ctx context.Context, k *engine.Call, q engine.Query, yield func(any, error) bool) error {
	return engine.ReadAcross(ctx, k, q, engine.RootAlias, s.checkRow, func(row *engine.Row) bool { return yield(row.Value, row.Err) })
}

package repository

import (
	"context"
)

// Count returns how many documents q looks for. The order of q does not
// matter; its limit does.
func (r *Reader[T]) Count(ctx context.Context, q Query) (int64, error) {
	k := call{core: r.repo.core, op: "Count", at: &r.at}
	n, err := r.count(ctx, &k, q)
	return n, k.fail(err)
}

func (r *Reader[T]) count(ctx context.Context, k *call, q Query) (int64, error) {
	if err := r.startQuery(ctx, k); err != nil {
		return 0, err
	}
	limit := q.limit
	q.order, q.limit = nil, 0
	n, err := r.countAll(ctx, k, q)
	if limit > 0 {
		n = min(n, int64(limit))
	}
	return n, err
}

const selectCount = "SELECT VALUE COUNT(1) FROM c"

func (r *Reader[T]) countAll(ctx context.Context, k *call, q Query) (int64, error) {
	if !r.at.full {
		return r.countAcross(ctx, k, q)
	}
	var total int64
	for _, home := range k.core.homes(r.at) {
		st, err := k.core.compile(&home, q, selectCount)
		if err != nil {
			return 0, err
		}
		// A count over many documents comes in several pages, each with the
		// count of its own part.
		for from := ""; ; {
			parts, next, err := fetchPage[int64](ctx, k, &home, st, from, 0)
			if err != nil {
				return 0, err
			}
			for _, part := range parts {
				total += part
			}
			if next == "" {
				break
			}
			from = next
		}
	}
	return total, nil
}

package repository

import (
	"context"
)

// Count returns how many documents q looks for. The order of q does not
// matter; its limit does.
func (r *Reader[T]) Count(ctx context.Context, q Query) (int64, error) {
	k := call{core: r.repo.core, op: "Count", at: &r.at}
	ctx = k.begin(ctx)
	n, err := r.count(ctx, &k, q)
	return n, k.end(err)
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

// countAll adds up the counts of all parts. A count over many documents comes
// in several pages, each with the count of its own share.
func (r *Reader[T]) countAll(ctx context.Context, k *call, q Query) (int64, error) {
	p, err := k.planFor(q, selectCount)
	if err != nil {
		return 0, err
	}
	var total int64
	err = gather(ctx, k, p, maxGroups, func(counts []int64) error {
		for _, n := range counts {
			total += n
		}
		return nil
	})
	return total, err
}

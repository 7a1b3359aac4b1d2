package engine

import (
	"context"
)

// CountIn counts the documents of a scope.
func (c *Collection) CountIn(ctx context.Context, at *Partition, q Query) (int64, error) {
	k := Call{Collection: c, Op: "Count", At: at}
	ctx = k.Begin(ctx)
	n, err := k.count(ctx, q)
	return n, k.End(err)
}

func (k *Call) count(ctx context.Context, q Query) (int64, error) {
	if err := k.StartQuery(ctx); err != nil {
		return 0, err
	}
	limit := q.limit
	q.order, q.limit = nil, 0
	n, err := k.countAll(ctx, q)
	if limit > 0 {
		n = min(n, int64(limit))
	}
	return n, err
}

const selectCount = "SELECT VALUE COUNT(1) FROM c"

// countAll adds up the counts of all parts. A count over many documents comes
// in several pages, each with the count of its own share.
func (k *Call) countAll(ctx context.Context, q Query) (int64, error) {
	p, err := k.PlanFor(q, selectCount)
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

package engine

import (
	"cmp"
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cosmosgrove/grove/internal/merge"
)

func projectAcross[V any](ctx context.Context, k *Call, q Query, projection string, yield func(V) bool) error {
	return ReadAcross(ctx, k, q, expressionOf(projection), nil, func(v *V) bool { return yield(*v) })
}

// expressionOf is what a "SELECT VALUE expression FROM c" selects.
func expressionOf(projection string) string {
	return strings.TrimSuffix(strings.TrimPrefix(projection, "SELECT VALUE "), " FROM "+RootAlias)
}

func selectValue(expression string) string {
	if expression == RootAlias {
		return SelectAll
	}
	return "SELECT VALUE " + expression + " FROM " + RootAlias
}

// ReadAcross reads what a query finds in all partitions of the scope, in the
// query's order where it has one: sorted.go merges the partitions then, over
// internal/merge. Where a page goes on is the Position of cursor.go.
func ReadAcross[R any](ctx context.Context, k *Call, q Query, expression string, check func(*R) error, yield func(*R) bool) error {
	if len(q.order) > 0 {
		return readSorted(ctx, k, q, expression, check, yield)
	}
	p, err := k.PlanFor(q, selectValue(expression))
	if err != nil {
		return err
	}
	left := q.limit
	_, err = InTurn(ctx, k, p, p.ranges(k.Collection), func() int { return cmp.Or(left, q.page) }, func(rows []R) (bool, error) {
		for i := range rows {
			if check != nil {
				if err := check(&rows[i]); err != nil {
					return false, err
				}
			}
			if left--; !yield(&rows[i]) || left == 0 {
				return false, nil
			}
		}
		left = max(left, 0)
		return true, nil
	})
	return err
}

// InTurn reads the parts of a scope one after another, a page at a time, until
// take says that it has enough. size is the most that the next page may hold.
// It returns what was not read.
func InTurn[R any](ctx context.Context, k *Call, p *plan, ranges []keyRange, size func() int, take func([]R) (more bool, err error)) ([]keyRange, error) {
	pieces, err := k.pieces(ctx, p, ranges, "")
	if err != nil {
		return nil, err
	}
	for moves := 0; len(pieces) > 0; {
		at := &pieces[0]
		rows, next, err := FetchPage[R](ctx, k, &at.at, p.sts[at.Partition], at.From, size())
		if err != nil {
			parts, err := k.follow(ctx, p, *at, moves, err)
			if err != nil {
				return nil, err
			}
			moves++
			pieces = append(parts, pieces[1:]...)
			continue
		}
		moves = 0
		if at.From = next; next == "" {
			pieces = pieces[1:]
		}
		if more, err := take(rows); err != nil || !more {
			return rangesOf(pieces), err
		}
	}
	return nil, nil
}

func rangesOf(pieces []piece) []keyRange {
	out := make([]keyRange, len(pieces))
	for i, p := range pieces {
		out[i] = p.keyRange
	}
	return join(out)
}

// gather reads all rows of a query from every part of the scope, several parts
// at once, and gives them to add part by part in a fixed order. It is for
// queries whose rows are partial results. limit is the most rows that one part
// may give.
func gather[R any](ctx context.Context, k *Call, p *plan, limit int, add func([]R) error) error {
	pieces, err := k.pieces(ctx, p, p.ranges(k.Collection), "")
	if err != nil {
		return err
	}
	parts := make([][]R, len(pieces))
	group, under := errgroup.WithContext(ctx)
	group.SetLimit(merge.Parallel)
	for i, at := range pieces {
		group.Go(func() error {
			var err error
			parts[i], err = drain[R](under, k, p, at, limit, 0)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, rows := range parts {
		if err := add(rows); err != nil {
			return err
		}
	}
	return nil
}

// drain reads one part to its end. If its partition is divided on the way, it
// starts again with those that took over: partial results can't be continued.
func drain[R any](ctx context.Context, k *Call, p *plan, at piece, limit, moves int) ([]R, error) {
	var all []R
	for from := ""; ; {
		rows, next, err := FetchPage[R](ctx, k, &at.at, p.sts[at.Partition], from, 0)
		if err != nil {
			return drainParts[R](ctx, k, p, at, limit, moves, err)
		}
		if all = append(all, rows...); len(all) > limit {
			return nil, errTooManyGroups
		}
		if next == "" {
			return all, nil
		}
		from = next
	}
}

func drainParts[R any](ctx context.Context, k *Call, p *plan, at piece, limit, moves int, cause error) ([]R, error) {
	parts, err := k.follow(ctx, p, at, moves, cause)
	if err != nil {
		return nil, err
	}
	var all []R
	for _, part := range parts {
		rows, err := drain[R](ctx, k, p, part, limit, moves+1)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

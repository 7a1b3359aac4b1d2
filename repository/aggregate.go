package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Sum adds up a number field of the documents that q looks for. Documents
// without the field count for nothing; without any, the sum is 0. The service
// calculates in doubles: above 2^53 the result is rounded.
//
// It fails with [ErrInvalid] when the field does not hold numbers, and with
// [ErrUnsupported] when q has a limit or a document holds something else
// there. The order of q does not matter.
func (r *Reader[T]) Sum(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.repo.core().Aggregate(ctx, "Sum", &r.at, engine.SumOf, field, q.inner())
	return a.Sum, err
}

// Avg is the mean of a number field over the documents that have it, and
// [ErrNotFound] when none has; otherwise as [Reader.Sum].
func (r *Reader[T]) Avg(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.repo.core().Aggregate(ctx, "Avg", &r.at, engine.AvgOf, field, q.inner())
	if err != nil {
		return 0, err
	}
	return a.Sum / float64(a.Count), nil
}

// Min is the smallest value of a number field, and [ErrNotFound] when no
// document that q looks for has it; otherwise as [Reader.Sum]. The smallest
// text or time is found with First and OrderBy.
func (r *Reader[T]) Min(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.repo.core().Aggregate(ctx, "Min", &r.at, engine.MinOf, field, q.inner())
	n, _ := a.Extreme.Number()
	return n, err
}

// Max is the largest value of a number field; see [Reader.Min].
func (r *Reader[T]) Max(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.repo.core().Aggregate(ctx, "Max", &r.at, engine.MaxOf, field, q.inner())
	n, _ := a.Extreme.Number()
	return n, err
}

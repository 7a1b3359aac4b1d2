package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Sum is [ScopeOf.Sum].
//
//go:noinline
func (r *reader[P]) Sum(ctx context.Context, field string, q Query) (float64, error) {
	return r.scope.Sum(ctx, field, q)
}

// Sum adds up a number field of the documents that q looks for. Documents
// without the field count for nothing; without any, the sum is 0. The service
// calculates in doubles: above 2^53 the result is rounded.
//
// It fails with [ErrInvalid] when the field does not hold numbers, and with
// [ErrUnsupported] when q has a limit or a document holds something else
// there. The order of q does not matter.
//
//go:noinline
func (s *ScopeOf[P]) Sum(ctx context.Context, field string, q Query) (float64, error) {
	return s.Reader.scope.Sum(ctx, field, q)
}

func (s *scope) Sum(ctx context.Context, field string, q Query) (float64, error) {
	a, err := s.c.Aggregate(ctx, "Sum", &s.at, engine.SumOf, field, q.inner())
	return a.Sum, err
}

// Avg is [ScopeOf.Avg].
//
//go:noinline
func (r *reader[P]) Avg(ctx context.Context, field string, q Query) (float64, error) {
	return r.scope.Avg(ctx, field, q)
}

// Avg is the mean of a number field over the documents that have it, and
// [ErrNotFound] when none has; otherwise as [ScopeOf.Sum].
//
//go:noinline
func (s *ScopeOf[P]) Avg(ctx context.Context, field string, q Query) (float64, error) {
	return s.Reader.scope.Avg(ctx, field, q)
}

func (s *scope) Avg(ctx context.Context, field string, q Query) (float64, error) {
	a, err := s.c.Aggregate(ctx, "Avg", &s.at, engine.AvgOf, field, q.inner())
	if err != nil {
		return 0, err
	}
	return a.Sum / float64(a.Count), nil
}

// Min is [ScopeOf.Min].
//
//go:noinline
func (r *reader[P]) Min(ctx context.Context, field string, q Query) (float64, error) {
	return r.scope.Min(ctx, field, q)
}

// Min is the smallest value of a number field, and [ErrNotFound] when no
// document that q looks for has it; otherwise as [ScopeOf.Sum]. The smallest
// text or time is found with First and OrderBy.
//
//go:noinline
func (s *ScopeOf[P]) Min(ctx context.Context, field string, q Query) (float64, error) {
	return s.Reader.scope.Min(ctx, field, q)
}

func (s *scope) Min(ctx context.Context, field string, q Query) (float64, error) {
	a, err := s.c.Aggregate(ctx, "Min", &s.at, engine.MinOf, field, q.inner())
	n, _ := a.Extreme.Number()
	return n, err
}

// Max is [ScopeOf.Max].
//
//go:noinline
func (r *reader[P]) Max(ctx context.Context, field string, q Query) (float64, error) {
	return r.scope.Max(ctx, field, q)
}

// Max is the largest value of a number field; see [ScopeOf.Min].
//
//go:noinline
func (s *ScopeOf[P]) Max(ctx context.Context, field string, q Query) (float64, error) {
	return s.Reader.scope.Max(ctx, field, q)
}

func (s *scope) Max(ctx context.Context, field string, q Query) (float64, error) {
	a, err := s.c.Aggregate(ctx, "Max", &s.at, engine.MaxOf, field, q.inner())
	n, _ := a.Extreme.Number()
	return n, err
}

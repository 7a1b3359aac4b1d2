package repository

import (
	"context"
	"iter"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
)

// GroupBy sorts the documents that q looks for into groups and aggregates
// each. G is a struct that declares both: a field without a group tag is what
// is grouped by, and the tag names an aggregate.
//
//	type StatusTotal struct {
//		Status string  `json:"status"`
//		Tasks  int64   `json:"tasks" group:"count"`
//		Hours  float64 `json:"hours" group:"sum"`
//		Oldest int64   `json:"oldest" group:"min,field=createdAt"`
//	}
//	for total, err := range repository.GroupBy[StatusTotal](ctx, &tasks.Reader, repository.All()) { ... }
//
// The tag is "count", or "sum", "avg", "min" or "max" of the member's own JSON
// name or of the field named behind "field="; "by,field=address.city" groups by
// a field that has another name. Sum and avg take numbers, min and max any
// scalar. Sums are calculated in doubles: above 2^53 they are rounded. An avg,
// min or max of nothing leaves its member at zero.
//
// The groups come in ascending order of what they are grouped by, all of which
// is held in memory: at most 100,000 groups per partition. A limit counts
// groups. An order in q is [ErrUnsupported].
func GroupBy[G, T any](ctx context.Context, r *Reader[T], q Query) iter.Seq2[G, error] {
	return func(yield func(G, error) bool) {
		r.scope.GroupBy(ctx, reflect.TypeFor[G](), q, func(value any, err error) bool { return yield(valueOf[G](value, err)) })
	}
}

func (s *scope) GroupBy(ctx context.Context, into reflect.Type, q Query, yield func(any, error) bool) {
	k := engine.Call{Collection: s.c, Op: "GroupBy", At: &s.at, Into: into}
	ctx = k.Begin(ctx)
	err := k.StartQuery(ctx)
	if err == nil {
		err = engine.GroupBy(ctx, &k, q.inner(), func(v any) bool { return yield(v, nil) })
	}
	if err = k.End(err); err != nil {
		yield(nil, err)
	}
}

package repository

import (
	"context"
	"iter"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Distinct returns the different values that a field has in the documents that
// q looks for, each once, in ascending order; with q.OrderByDesc of that same
// field, descending. Documents without the field give none. A limit counts
// values. Otherwise the sequence behaves as that of [ScopeOf.Query].
//
// It fails with [ErrUnsupported] for an array or an object, and for an order
// by another field.
//
// It is a function because a method can't have a type parameter of its own.
func Distinct[V, T any](ctx context.Context, r *Reader[T], field string, q Query) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		r.scope.Distinct(ctx, reflect.TypeFor[V](), field, q, func(value any, err error) bool { return yield(valueOf[V](value, err)) })
	}
}

func (s *scope) Distinct(ctx context.Context, into reflect.Type, field string, q Query, yield func(any, error) bool) {
	k := engine.Call{Collection: s.c, Op: "Distinct", At: &s.at, Into: into}
	ctx = k.Begin(ctx)
	err := k.StartQuery(ctx)
	if err == nil {
		err = engine.Distinct(ctx, &k, field, q.inner(), func(v any) bool { return yield(v, nil) })
	}
	if err = k.End(err); err != nil {
		yield(nil, err)
	}
}

package repository

import (
	"context"
	"iter"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Distinct returns the different values that a field has in the documents that
// q looks for, each once, in ascending order; with q.OrderByDesc of that same
// field, descending. Documents without the field give none. A limit counts
// values. Otherwise the sequence behaves as that of [Reader.Query].
//
// It fails with [ErrUnsupported] for an array or an object, and for an order
// by another field.
//
// It is a function because a method can't have a type parameter of its own.
func Distinct[V, T any](ctx context.Context, r *Reader[T], field string, q Query) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		k := engine.Call{Collection: r.repo.core(), Op: "Distinct", At: &r.at}
		ctx := k.Begin(ctx)
		err := k.StartQuery(ctx)
		if err == nil {
			err = engine.Distinct(ctx, &k, field, q.inner(), func(v V) bool { return yield(v, nil) })
		}
		if err = k.End(err); err != nil {
			var zero V
			yield(zero, err)
		}
	}
}

package repository

import (
	"context"
	"iter"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Project reads parts of documents: only the members that V declares by its
// json tags, at the top level. Every one of them must be a field of the
// entity. The documents come as V, under the rules of [Reader.Query].
//
// It is a function because a method can't have a type parameter of its own.
func Project[V, T any](ctx context.Context, r *Reader[T], q Query) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		k := engine.Call{Collection: r.repo.core(), Op: "Project", At: &r.at}
		ctx := k.Begin(ctx)
		err := k.End(project(ctx, &k, q, func(v V, err error) bool { return yield(v, k.Fail(err)) }))
		if err != nil {
			var zero V
			yield(zero, err)
		}
	}
}

func project[V any](ctx context.Context, k *engine.Call, q Query, yield func(V, error) bool) error {
	if err := k.StartQuery(ctx); err != nil {
		return err
	}
	projection, err := engine.ProjectionOf[V](k.Collection.Model())
	if err != nil {
		return err
	}
	return engine.ProjectAs(ctx, k, q.inner(), projection, func(one row[V]) bool {
		if one.err != nil {
			var zero V
			return yield(zero, one.err)
		}
		return yield(*one.value, nil)
	})
}

package repository

import (
	"context"
	"iter"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Project reads parts of documents: only the members that V declares by its
// json tags, at the top level. Every one of them must be a field of the
// entity. The documents come as V, under the rules of [ScopeOf.Query].
//
// It is a function because a method can't have a type parameter of its own.
func Project[V, T any](ctx context.Context, r *Reader[T], q Query) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		r.scope.Project(ctx, reflect.TypeFor[V](), q, func(value any, err error) bool { return yield(valueOf[V](value, err)) })
	}
}

func (s *scope) Project(ctx context.Context, into reflect.Type, q Query, yield func(any, error) bool) {
	k := engine.Call{Collection: s.c, Op: "Project", At: &s.at, Into: into}
	ctx = k.Begin(ctx)
	err := k.End(project(ctx, &k, q, func(v any, err error) bool { return yield(v, k.Fail(err)) }))
	if err != nil {
		yield(nil, err)
	}
}

func project(ctx context.Context, k *engine.Call, q Query, yield func(any, error) bool) error {
	if err := k.StartQuery(ctx); err != nil {
		return err
	}
	projection, err := engine.ProjectionOf(k.Into, k.Collection.Model())
	if err != nil {
		return err
	}
	return engine.ProjectAs(ctx, k, q.inner(), projection, func(one engine.Row) bool { return yield(one.Value, one.Err) })
}

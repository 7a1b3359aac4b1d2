package repository

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Project reads parts of documents: only the members that V declares by its
// json tags, at the top level. Every one of them must be a field of the
// entity. The documents come as V, under the rules of [Reader.Query].
//
// It is a function because a method can't have a type parameter of its own.
func Project[V, T any](ctx context.Context, r *Reader[T], q Query) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		k := call{core: r.repo.core, op: "Project", at: &r.at}
		ctx := k.begin(ctx)
		err := k.end(project(ctx, &k, r, q, func(v V, err error) bool { return yield(v, k.fail(err)) }))
		if err != nil {
			var zero V
			yield(zero, err)
		}
	}
}

func project[V, T any](ctx context.Context, k *call, r *Reader[T], q Query, yield func(V, error) bool) error {
	if err := r.startQuery(ctx, k); err != nil {
		return err
	}
	projection, err := projectionOf[V](k.core.model)
	if err != nil {
		return err
	}
	return projectAs(ctx, k, r, q, projection, func(one row[V]) bool {
		if one.err != nil {
			var zero V
			return yield(zero, one.err)
		}
		return yield(*one.value, nil)
	})
}

// projectAs reads rows of the shape that a SELECT clause gives them.
func projectAs[V, T any](ctx context.Context, k *call, r *Reader[T], q Query, projection string, yield func(V) bool) error {
	if !r.at.full || len(k.core.partitionsOf(r.at)) > 1 {
		return projectAcross(ctx, k, r, q, projection, yield)
	}
	st, err := k.core.compile(&r.at, q, projection)
	if err != nil {
		return err
	}
	for from := ""; ; {
		rows, next, err := fetchPage[V](ctx, k, &r.at, st, from, cmp.Or(q.limit, q.page))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !yield(row) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		from = next
	}
}

// projectionOf writes the SELECT clause for the members of V.
func projectionOf[V any](model *tenantitem.Model) (string, error) {
	t := reflect.TypeFor[V]()
	view, err := tenantitem.ModelOfType(t)
	if err != nil {
		return "", &tenantitem.InvalidError{What: "projection", Reason: fmt.Sprintf("%s is not a named struct", t), Hint: "declare a struct with the members to read"}
	}
	var b strings.Builder
	b.WriteString("SELECT VALUE {")
	first := true
	for _, f := range view.Fields {
		if strings.Contains(f.Path, ".") {
			continue
		}
		if _, ok := model.Field(f.Path); !ok {
			return "", model.UnknownField(f.Path)
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		fmt.Fprintf(&b, "%q: %s", f.Name, fieldSQL(f.Path))
	}
	if first {
		return "", &tenantitem.InvalidError{What: "projection", Reason: fmt.Sprintf("%s has no JSON members", t), Hint: "give it exported fields with json tags"}
	}
	if _, ok := view.Field("id"); !ok {
		b.WriteString(`, "id": ` + fieldSQL("id")) // names a document that V can't hold
	}
	b.WriteString("} FROM " + rootAlias)
	return b.String(), nil
}

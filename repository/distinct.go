package repository

import (
	"context"
	"iter"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
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
		k := call{core: r.repo.core, op: "Distinct", at: &r.at}
		ctx := k.begin(ctx)
		err := r.startQuery(ctx, &k)
		if err == nil {
			err = distinct(ctx, &k, field, q, func(v V) bool { return yield(v, nil) })
		}
		if err = k.end(err); err != nil {
			var zero V
			yield(zero, err)
		}
	}
}

func distinct[V any](ctx context.Context, k *call, field string, q Query, yield func(V) bool) error {
	f, ok := k.core.model.Field(field)
	if !ok {
		return k.core.model.UnknownField(field)
	}
	if f.Kind == tenantitem.KindArray || f.Kind == tenantitem.KindObject {
		return errDistinct(field)
	}
	if len(q.order) == 0 {
		q = q.OrderBy(field)
	}
	if len(q.order) > 1 || q.order[0].field != field {
		return &unsupportedError{clause: "ORDER BY beside DISTINCT " + field, reason: "it names another field", hint: "sort by the field itself"}
	}
	desc := q.order[0].desc
	// Sorted values need no memory of those that were given.
	p, err := k.planFor(q, "SELECT DISTINCT VALUE "+fieldSQL(field)+" FROM "+rootAlias)
	if err != nil {
		return err
	}
	compare := func(a, b *merge.Value) int {
		if desc {
			return merge.Compare(*b, *a)
		}
		return merge.Compare(*a, *b)
	}
	m := newMerger(k, p, q.limit, compare, func(v *merge.Value) error {
		if kind := v.Kind(); kind == merge.Array || kind == merge.Object {
			return errDistinct(field)
		}
		return nil
	})
	var last *merge.Value
	var decodeErr error
	left := q.limit
	err = m.run(ctx, p.spans(k.core), nil, func(v *merge.Value) bool {
		if last != nil && merge.Compare(*last, *v) == 0 {
			return true
		}
		last = v
		var out V
		if decodeErr = codec.Decode(v.AppendJSON(nil), &out); decodeErr != nil {
			decodeErr = &decodeError{decodeErr}
			return false
		}
		left--
		return yield(out) && left != 0
	})
	if err != nil {
		return err
	}
	return decodeErr
}

// errDistinct is for values that the service sorts in an order of its own, so
// that equal ones can't be met side by side.
func errDistinct(field string) error {
	return &unsupportedError{clause: "DISTINCT " + field, reason: "it holds an array or an object", hint: "name a scalar field"}
}

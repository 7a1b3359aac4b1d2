package engine

import (
	"context"
	"reflect"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Distinct yields the different values of a field, in order, as pointers to
// what the call reads into.
func Distinct(ctx context.Context, k *Call, field string, q Query, yield func(any) bool) error {
	f, ok := k.Collection.model.Field(field)
	if !ok {
		return k.Collection.model.UnknownField(field)
	}
	if f.Kind == tenantitem.KindArray || f.Kind == tenantitem.KindObject {
		return errDistinct(field)
	}
	if len(q.order) == 0 {
		q = q.OrderBy(field)
	}
	if len(q.order) > 1 || q.order[0].field != field {
		return &unsupportedError{clause: "ORDER BY with DISTINCT " + field, reason: "it names another field", hint: "sort by the field itself"}
	}
	desc := q.order[0].desc
	// Sorted values need no memory of those that were given.
	p, err := k.PlanFor(q, "SELECT DISTINCT VALUE "+fieldSQL(field)+" FROM "+RootAlias)
	if err != nil {
		return err
	}
	compare := func(a, b *merge.Value) int {
		if desc {
			return merge.Compare(*b, *a)
		}
		return merge.Compare(*a, *b)
	}
	m := NewMerger(k, p, q.limit, compare, func(v *merge.Value) error {
		if kind := v.Kind(); kind == merge.Array || kind == merge.Object {
			return errDistinct(field)
		}
		return nil
	})
	var last *merge.Value
	var decodeErr error
	left := q.limit
	err = m.Run(ctx, p.ranges(k.Collection), nil, func(v *merge.Value) bool {
		if last != nil && merge.Compare(*last, *v) == 0 {
			return true
		}
		last = v
		out := reflect.New(k.into()).Interface()
		if decodeErr = codec.Decode(v.AppendJSON(nil), out); decodeErr != nil {
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

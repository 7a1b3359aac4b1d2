package engine

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem"
)

// ProjectAs reads rows of the shape that a SELECT clause gives them.
func ProjectAs[V any](ctx context.Context, k *Call, q Query, projection string, yield func(V) bool) error {
	if k.SeveralPartitions() {
		return projectAcross(ctx, k, q, projection, yield)
	}
	return projectOne(ctx, k, q, projection, yield)
}

// projectOne reads the rows of one logical partition.
func projectOne[V any](ctx context.Context, k *Call, q Query, projection string, yield func(V) bool) error {
	st, err := k.Collection.Compile(k.At, q, projection)
	if err != nil {
		return err
	}
	return EachPage(ctx, k, k.At, st, cmp.Or(q.limit, q.page), func(rows []V) (bool, error) {
		for _, row := range rows {
			if !yield(row) {
				return false, nil
			}
		}
		return true, nil
	})
}

// ProjectionOf writes the SELECT clause for the members of a struct.
func ProjectionOf(t reflect.Type, model *tenantitem.Model) (string, error) {
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
	b.WriteString("} FROM " + RootAlias)
	return b.String(), nil
}

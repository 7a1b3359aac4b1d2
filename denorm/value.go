package denorm

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// keyOfRef returns what a reference tells of where the documents lie that hold
// it: as many values as In takes, in order.
func (typ *entityType) keyOfRef(refPath, id string) []any {
	if fields := typ.docs.GivenFields(); len(fields) > 0 && fields[0] == refPath {
		return []any{id}
	}
	return nil
}

// given are the values of a document's key that In takes beside the tenant.
func (typ *entityType) given(key []any) []any { return typ.docs.GivenOf(key) }

// sameValue compares two JSON values as the field's Go type sees them; nothing
// there, null, the type's zero value and an empty list are the same.
func sameValue(t reflect.Type, a, b json.RawMessage) (bool, error) {
	return same(a, b, func(raw json.RawMessage) (json.RawMessage, error) { return canonical(t, raw) })
}

// same compares two JSON values as stored writes them.
func same(a, b json.RawMessage, stored func(json.RawMessage) (json.RawMessage, error)) (bool, error) {
	if bytes.Equal(a, b) {
		return true, nil
	}
	first, err := stored(a)
	if err != nil {
		return false, err
	}
	second, err := stored(b)
	return bytes.Equal(first, second), err
}

// canonical writes a value as an entity with that field would store it.
func canonical(t reflect.Type, raw json.RawMessage) (json.RawMessage, error) {
	v := reflect.New(t)
	if raw != nil {
		if err := engine.DecodeValue(raw, v.Interface()); err != nil {
			return nil, err
		}
	}
	if isEmptyList(v.Elem()) {
		return json.RawMessage("null"), nil
	}
	return engine.EncodeValue(v.Interface())
}

func isEmptyList(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

var errNoText = errors.New("it is no text")

// textOf reads a member that is a string; nothing there and null are "".
func textOf(raw json.RawMessage) (string, error) {
	if raw == nil || string(raw) == "null" {
		return "", nil
	}
	var s string
	if engine.DecodeValue(raw, &s) != nil {
		return "", errNoText
	}
	return s, nil
}

// refsIn returns the references that a stored document holds in a field: one,
// or all of an array. An element that is none is passed over, as a query for the
// others does.
func refsIn(fields map[string]json.RawMessage, f *tenantitem.Field) []string {
	raw := memberAt(fields, f.Path)
	if raw == nil {
		return nil
	}
	if f.Kind == tenantitem.KindArray {
		var elements []json.RawMessage
		if engine.DecodeValue(raw, &elements) != nil {
			return nil
		}
		many := make([]string, 0, len(elements))
		for _, element := range elements {
			if id, err := textOf(element); err == nil && id != "" {
				many = append(many, id)
			}
		}
		return many
	}
	if one, err := textOf(raw); err == nil && one != "" {
		return []string{one}
	}
	return nil
}

// refsOf returns the references that an entity holds in a field.
func refsOf(entity reflect.Value, f *tenantitem.Field) []string {
	v, ok := f.Value(entity)
	if !ok {
		return nil
	}
	if f.Kind != tenantitem.KindArray {
		if v.String() == "" {
			return nil
		}
		return []string{v.String()}
	}
	out := make([]string, 0, v.Len())
	for i := range v.Len() {
		if elem := reflect.Indirect(v.Index(i)); elem.IsValid() && elem.String() != "" {
			out = append(out, elem.String())
		}
	}
	return out
}

// distinct sorts ids and drops what occurs twice.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// validIDs drops what can't be an id of a document: nothing can be found by it.
func validIDs(ids []string) []string {
	return slices.DeleteFunc(distinct(ids), func(id string) bool { return tenantitem.ValidateID(id) != nil })
}

var emptyText = json.RawMessage(`""`)

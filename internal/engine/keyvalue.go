package engine

import (
	"fmt"
	"math"
	"reflect"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// value turns a Go value into what this level holds: string, float64 or bool.
// Named types (a Ref, an enumeration) count as what they are made from. A value
// that the entity's field can't hold is refused: no document has it.
func (l keyLevel) value(v any) (any, error) {
	refuse := func(reason, hint string) (any, error) {
		return nil, &tenantitem.InvalidError{What: "partition key value " + l.path, Reason: reason, Hint: hint}
	}
	if l.field == nil {
		out, err := keyValue(l.path, v)
		if text, _ := out.(string); err == nil && l.source.Kind == layout.FromTenant {
			err = tenantitem.ValidateTenantID(text)
		}
		return out, err
	}
	rv := reflect.ValueOf(v)
	if l.field.Quoted {
		// The document holds the text of the number or boolean.
		if rv.IsValid() && rv.Kind() != reflect.String {
			v = fmt.Sprint(v)
		}
		text, err := keyValue(l.path, v)
		if err != nil {
			return nil, err
		}
		if s, _ := text.(string); l.field.Type.Kind() == reflect.String || codec.Decode([]byte(s), reflect.New(l.field.Type).Interface()) != nil {
			return refuse("it does not fit the field, which is a "+l.field.Type.String()+" stored as text", "give a value of the field's type")
		}
		return text, nil
	}
	if rv.IsValid() && (rv.CanInt() || rv.CanUint()) {
		if n, ok := wholeOf(rv); !ok || n > codec.MaxInteger || n < -codec.MaxInteger {
			return refuse("an integer lies beyond 2^53, where two numbers are one partition", `store it as text: with the tag option json:",string", or in a string`)
		}
	}
	out, err := keyValue(l.path, v)
	if err != nil {
		return nil, err
	}
	if !fitsField(l.field.Type, out) {
		return refuse("it does not fit the field, which is a "+l.field.Type.String(), "give a value of the field's type")
	}
	return out, nil
}

func wholeOf(v reflect.Value) (int64, bool) {
	if v.CanInt() {
		return v.Int(), true
	}
	return int64(v.Uint()), v.Uint() <= math.MaxInt64 //nolint:gosec // reported beside it
}

// fitsField reports whether a field of that type can hold a key's value.
func fitsField(t reflect.Type, v any) bool {
	field := reflect.New(t).Elem()
	switch v := v.(type) {
	case string:
		// A type may be written as text by a method of its own.
		return t.Kind() == reflect.String || !field.CanInt() && !field.CanUint() && !field.CanFloat() && t.Kind() != reflect.Bool
	case bool:
		return t.Kind() == reflect.Bool
	case float64:
		return setNumber(field, v)
	}
	return false
}

// setNumber sets a field of a number's type; false when the number is not one
// of that type.
func setNumber(field reflect.Value, f float64) bool {
	switch {
	case field.CanFloat():
		field.SetFloat(f)
		return field.Float() == f
	case f != math.Trunc(f) || math.Abs(f) > codec.MaxInteger:
		return false
	case field.CanInt():
		if field.OverflowInt(int64(f)) {
			return false
		}
		field.SetInt(int64(f))
		return true
	case field.CanUint():
		if f < 0 || field.OverflowUint(uint64(f)) {
			return false
		}
		field.SetUint(uint64(f))
		return true
	}
	return false
}

// isEmpty reports whether a key field holds nothing: false and 0 are values,
// an empty text can't be one.
func (l keyLevel) isEmpty(field reflect.Value) bool {
	return field.Kind() == reflect.String && field.Len() == 0
}

// set fills a key field.
func (l keyLevel) set(field reflect.Value, v any) error {
	switch v := v.(type) {
	case string:
		switch {
		case l.field.Quoted:
			return codec.Decode([]byte(v), field.Addr().Interface())
		case field.Kind() == reflect.String:
			field.SetString(v)
			return nil
		}
	case bool:
		if field.Kind() == reflect.Bool {
			field.SetBool(v)
			return nil
		}
	case float64:
		if setNumber(field, v) {
			return nil
		}
	}
	return fmt.Errorf("a %T does not fit a %s", v, field.Type())
}

package engine

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

var timeType = reflect.TypeFor[time.Time]()

// stored turns a value into what the field holds in its place, where the two
// differ: text of a time gets the form that sorts, and a number or boolean that
// is stored as text becomes that text.
func (p Predicate) stored(model *tenantitem.Model, v any) (any, error) {
	if model == nil || v == nil {
		return v, nil
	}
	field, ok := model.Field(p.field)
	if !ok {
		return v, nil
	}
	refuse := func(reason, hint string) (any, error) {
		return nil, &tenantitem.InvalidError{What: "predicate on " + p.field, Reason: reason, Hint: hint}
	}
	if field.Quoted {
		return p.quoted(field, v)
	}
	kind := field.Kind
	if kind == tenantitem.KindArray {
		kind = field.Elem
	}
	if text := reflect.ValueOf(v); kind == tenantitem.KindTime && text.Kind() == reflect.String && p.op != "STARTSWITH" {
		t, err := time.Parse(time.RFC3339Nano, text.String())
		if err != nil {
			return refuse("the text is no time", "give a time.Time")
		}
		return t, nil
	}
	return v, nil
}

// quoted is stored for a field with the tag option "string".
func (p Predicate) quoted(field *tenantitem.Field, v any) (any, error) {
	refuse := func(reason, hint string) (any, error) {
		return nil, &tenantitem.InvalidError{What: "predicate on " + p.field, Reason: reason, Hint: hint}
	}
	switch {
	case p.kind == oneOf, p.kind == compare && (p.op == "=" || p.op == "!="):
	default:
		return refuse("the field is stored as text, which does not compare as its values do", "use Eq, Ne or In")
	}
	raw, err := codec.EncodeText(v)
	if err == nil {
		err = codec.Decode(raw, reflect.New(field.Type).Interface())
	}
	if err != nil {
		return nil, RefusedValue("predicate on "+p.field, err)
	}
	return string(raw), nil
}

// sortField is field for ORDER BY.
func (w *SQLWriter) sortField(path string) (string, error) {
	sql, err := w.field(path)
	if err != nil || w.model == nil {
		return sql, err
	}
	if f, ok := w.model.Field(path); ok && sortsOtherwise(f) {
		return "", errQuotedOrder("ORDER BY " + path)
	}
	return sql, nil
}

// sortsOtherwise reports numbers that are stored as text.
func sortsOtherwise(f *tenantitem.Field) bool {
	return f.Quoted && f.Type.Kind() != reflect.String && f.Type.Kind() != reflect.Bool
}

func errQuotedOrder(clause string) error {
	return &unsupportedError{clause: clause, reason: "the number is stored as text, which sorts otherwise", hint: "store a number up to 2^53 as one, or sort by another field"}
}

// asStored returns parameters as they are sent: written as documents are.
func asStored(params []cosmos.QueryParameter) ([]cosmos.QueryParameter, error) {
	out := make([]cosmos.QueryParameter, len(params))
	for i, p := range params {
		raw, err := codec.Encode(p.Value)
		if err != nil {
			return nil, RefusedValue("query parameter", err)
		}
		out[i] = cosmos.QueryParameter{Name: p.Name, Value: json.RawMessage(raw)}
	}
	return out, nil
}

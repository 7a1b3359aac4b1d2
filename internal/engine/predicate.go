package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Predicate is a condition on one field, or a combination of conditions. The
// functions of this file make them. Field names are JSON names, nested ones
// joined by dots ("address.city"); a name that the entity does not have, or a
// value whose JSON type the field can't hold, is [ErrInvalid] when the query
// is used. Values are always sent as parameters. Its SQL is made by [Predicate.Write];
// what stands around the conditions in a statement is in query_sql.go; Explain of
// a scope shows all of it.
type Predicate struct {
	kind   predicateKind
	field  string
	op     string // the operator of a comparison, the function of a call
	values []any
	inner  []Predicate
}

type predicateKind uint8

const (
	compare predicateKind = iota + 1
	call1                 // OP(field)
	call2                 // OP(field, value)
	contains
	oneOf
	between
	allOf
	anyOf
	negate
)

// Eq holds where the field equals the value. Eq(field, nil) holds where it is
// null; a field that is missing equals nothing, see [Missing].
func Eq(field string, value any) Predicate { return comparison(field, "=", value) }

// Ne holds where the field is there and differs from the value.
func Ne(field string, value any) Predicate { return comparison(field, "!=", value) }

// Gt holds where the field is greater than the value, of the same JSON type.
func Gt(field string, value any) Predicate { return comparison(field, ">", value) }

// Gte holds where the field is greater than the value or equal to it.
func Gte(field string, value any) Predicate { return comparison(field, ">=", value) }

// Lt holds where the field is less than the value, of the same JSON type.
func Lt(field string, value any) Predicate { return comparison(field, "<", value) }

// Lte holds where the field is less than the value or equal to it.
func Lte(field string, value any) Predicate { return comparison(field, "<=", value) }

func comparison(field, op string, value any) Predicate {
	return Predicate{kind: compare, field: field, op: op, values: []any{value}}
}

// Between holds where the field lies between two values, both included.
func Between(field string, low, high any) Predicate {
	return Predicate{kind: between, field: field, values: []any{low, high}}
}

// In holds where the field equals one of the values. Without values it never holds.
func In(field string, values ...any) Predicate {
	return Predicate{kind: oneOf, field: field, values: values}
}

// Contains holds where an array field has the value as an element, or where a
// text field has it as a part, case included.
func Contains(field string, value any) Predicate {
	return Predicate{kind: contains, field: field, values: []any{value}}
}

// StartsWith holds where a text field begins with the prefix, case included.
// The index serves it.
func StartsWith(field, prefix string) Predicate {
	return Predicate{kind: call2, field: field, op: "STARTSWITH", values: []any{prefix}}
}

// Exists holds where the field is there, null included.
func Exists(field string) Predicate {
	return Predicate{kind: call1, field: field, op: "IS_DEFINED"}
}

// Missing holds where the field is not there.
func Missing(field string) Predicate { return Not(Exists(field)) }

// And holds where all of the conditions do.
func And(all ...Predicate) Predicate { return Predicate{kind: allOf, inner: all} }

// Or holds where one of the conditions does. Without any it never holds.
func Or(some ...Predicate) Predicate { return Predicate{kind: anyOf, inner: some} }

// Not holds where the condition does not. A comparison with a missing field
// neither holds nor fails, so Not of it does not hold either.
func Not(p Predicate) Predicate { return Predicate{kind: negate, inner: []Predicate{p}} }

// Write appends the predicate's SQL, with its values as parameters.
func (p Predicate) Write(w *SQLWriter) error {
	switch p.kind {
	case allOf:
		return p.join(w, " AND ", "true")
	case anyOf:
		return p.join(w, " OR ", "false")
	case negate:
		w.Text.WriteString("NOT (")
		err := p.inner[0].Write(w)
		w.Text.WriteByte(')')
		return err
	case 0:
		return &tenantitem.InvalidError{What: "predicate", Reason: "it is empty", Hint: "make one with Eq, In, And ..."}
	}
	field, err := w.field(p.field)
	if err != nil {
		return err
	}
	values := make([]any, len(p.values))
	for i, v := range p.values {
		if err := p.checkValue(w.model, v); err != nil {
			return err
		}
		if values[i], err = p.stored(w.model, v); err != nil {
			return err
		}
	}
	p.values = values
	if prefix := w.layout.IDPrefix(); prefix != "" && p.field == "id" && p.kind != contains {
		for i, v := range p.values {
			if text := reflect.ValueOf(v); text.Kind() == reflect.String {
				p.values[i] = prefix + text.String()
			}
		}
	}
	switch p.kind {
	case compare:
		fmt.Fprintf(&w.Text, "%s %s %s", field, p.op, w.param(p.values[0]))
	case call1:
		fmt.Fprintf(&w.Text, "%s(%s)", p.op, field)
	case call2:
		fmt.Fprintf(&w.Text, "%s(%s, %s)", p.op, field, w.param(p.values[0]))
	case contains:
		fmt.Fprintf(&w.Text, "%s(%s, %s)", p.containsFunction(w.model), field, w.param(p.values[0]))
	case between:
		fmt.Fprintf(&w.Text, "(%s BETWEEN %s AND %s)", field, w.param(p.values[0]), w.param(p.values[1]))
	case oneOf:
		if len(p.values) == 0 {
			w.Text.WriteString("false")
			return nil
		}
		names := make([]string, len(p.values))
		for i, v := range p.values {
			names[i] = w.param(v)
		}
		fmt.Fprintf(&w.Text, "%s IN (%s)", field, strings.Join(names, ", "))
	}
	return nil
}

func (p Predicate) join(w *SQLWriter, word, none string) error {
	if len(p.inner) == 0 {
		w.Text.WriteString(none)
		return nil
	}
	w.Text.WriteByte('(')
	for i, inner := range p.inner {
		if i > 0 {
			w.Text.WriteString(word)
		}
		if err := inner.Write(w); err != nil {
			return err
		}
	}
	w.Text.WriteByte(')')
	return nil
}

func (p Predicate) containsFunction(model *tenantitem.Model) string {
	if model != nil {
		if f, ok := model.Field(p.field); ok && f.Kind == tenantitem.KindString {
			return "CONTAINS"
		}
	}
	return "ARRAY_CONTAINS"
}

// checkValue refuses a comparison between JSON types: the service answers it
// with "undefined", so that the query would silently find nothing.
func (p Predicate) checkValue(model *tenantitem.Model, v any) error {
	if model == nil {
		return nil
	}
	field, ok := model.Field(p.field)
	if !ok {
		return nil
	}
	want := field.Kind
	if p.kind == contains && field.Kind == tenantitem.KindArray {
		want = field.Elem
	} else if p.kind == contains && field.Kind != tenantitem.KindString && field.Kind != tenantitem.KindAny {
		return &tenantitem.InvalidError{What: "predicate on " + p.field, Reason: "the field is neither an array nor a text", Hint: "use Eq"}
	}
	if p.op == "STARTSWITH" && want != tenantitem.KindString && want != tenantitem.KindTime && want != tenantitem.KindAny {
		return &tenantitem.InvalidError{What: "predicate on " + p.field, Reason: "the field is not a text", Hint: "use Eq or Between"}
	}
	if have := kindOfValue(v); !field.Quoted && !kindsCompare(want, have) {
		return &tenantitem.InvalidError{
			What:   "predicate on " + p.field,
			Reason: fmt.Sprintf("a %T never compares with the field's JSON type", v),
			Hint:   "give a value of the field's own type",
		}
	}
	return nil
}

// kindOfValue is the JSON type of a parameter; KindAny when only encoding it
// would tell, and for null, which compares with everything.
func kindOfValue(v any) tenantitem.FieldKind {
	switch v.(type) {
	case time.Time:
		return tenantitem.KindTime
	case json.Number:
		return tenantitem.KindNumber
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.String:
		return tenantitem.KindString
	case reflect.Bool:
		return tenantitem.KindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return tenantitem.KindNumber
	}
	return tenantitem.KindAny
}

func kindsCompare(field, value tenantitem.FieldKind) bool {
	if field == tenantitem.KindTime {
		field = tenantitem.KindString
	}
	if value == tenantitem.KindTime {
		value = tenantitem.KindString
	}
	return field == value || field == tenantitem.KindAny || value == tenantitem.KindAny
}

// fieldSQL writes a dotted path as a member of the root alias. Every name stands
// in brackets: the service refuses words of its language after a dot, and its
// list of them isn't published.
func fieldSQL(path string) string {
	var b strings.Builder
	b.WriteString(RootAlias)
	for name := range strings.SplitSeq(path, ".") {
		b.WriteByte('[')
		b.WriteString(strconv.Quote(name))
		b.WriteByte(']')
	}
	return b.String()
}

const RootAlias = "c"

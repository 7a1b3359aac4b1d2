package merge

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cosmosgrove/grove/internal/codec"
)

// Kind is a value's place in the order of types.
type Kind uint8

// The kinds in the order in which the service sorts them.
const (
	Undefined Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Value is a JSON value, or nothing at all: the zero value is undefined, which
// is what a member that a document lacks sorts as.
type Value struct {
	kind Kind
	yes  bool
	num  float64
	// text is a string's text, or a number as it was written: an integer above
	// 2^53 sorts by its double and is handed on as it came.
	text    string
	items   []Value
	members []member // sorted by name
}

type member struct {
	name  string
	value Value
}

// FromNumber returns the value of a finite number.
func FromNumber(f float64) Value {
	return Value{kind: Number, num: f, text: string(appendNumber(nil, f))}
}

// FromCount returns the value of a whole number, digits and all.
func FromCount(n int64) Value {
	return Value{kind: Number, num: float64(n), text: strconv.FormatInt(n, 10)}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// IsZero reports whether the value is undefined.
func (v Value) IsZero() bool { return v.kind == Undefined }

// Number returns the number, and whether the value is one.
func (v Value) Number() (float64, bool) { return v.num, v.kind == Number }

// UnmarshalJSONFrom reads one value.
func (v *Value) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		*v = Value{kind: Null}
	case 't', 'f':
		*v = Value{kind: Bool, yes: token.Bool()}
	case '"':
		*v = Value{kind: String, text: token.String()}
	case '0':
		text := token.String()
		num, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("a number lies outside the range of a double: %w", strconv.ErrRange)
		}
		*v = Value{kind: Number, num: num, text: text}
	case '[':
		return v.readItems(dec)
	case '{':
		return v.readMembers(dec)
	}
	return nil
}

func (v *Value) readItems(dec *jsontext.Decoder) error {
	*v = Value{kind: Array}
	for dec.PeekKind() != ']' {
		var item Value
		if err := item.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, err := dec.ReadToken()
	return err
}

func (v *Value) readMembers(dec *jsontext.Decoder) error {
	*v = Value{kind: Object}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String()}
		if err := m.value.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	sortMembers(v.members)
	_, err := dec.ReadToken()
	return err
}

// MarshalJSONTo writes the value; undefined, which JSON has no word for, as null.
func (v Value) MarshalJSONTo(enc *jsontext.Encoder) error { return enc.WriteValue(v.AppendJSON(nil)) }

// AppendJSON appends the value as JSON; undefined, which JSON has no word for,
// as null. Equal values give equal text, members in the order of their names,
// except for numbers that were written in different ways.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(dst, v.yes)
	case Number:
		return append(dst, v.text...)
	case String:
		return codec.AppendText(dst, v.text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendMember(dst, m.name, m.value)
		}
		return append(dst, '}')
	case Undefined, Null:
	}
	return append(dst, "null"...)
}

// AppendMember appends a name and its value as they stand in an object.
func AppendMember(dst []byte, name string, v Value) []byte {
	return v.AppendJSON(append(codec.AppendText(dst, name), ':'))
}

// AppendKey appends a text that two values share exactly when they are equal,
// however their numbers were written. No key is the beginning of another.
func (v Value) AppendKey(dst []byte) []byte {
	dst = append(dst, byte('0'+v.kind))
	switch v.kind {
	case Bool:
		dst = strconv.AppendBool(dst, v.yes)
	case Number:
		dst = appendNumber(dst, v.num)
	case String:
		dst = strconv.AppendQuote(dst, v.text)
	case Array:
		for _, item := range v.items {
			dst = item.AppendKey(append(dst, ','))
		}
	case Object:
		for _, m := range v.members {
			dst = m.value.AppendKey(append(strconv.AppendQuote(append(dst, ','), m.name), ':'))
		}
	case Undefined, Null:
	}
	return append(dst, ';')
}

// appendNumber writes whole numbers without an exponent, so that they can be
// decoded into an integer.
func appendNumber(dst []byte, f float64) []byte {
	if whole := int64(f); math.Abs(f) < 1<<62 && float64(whole) == f {
		return strconv.AppendInt(dst, whole, 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

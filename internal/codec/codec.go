// Package codec is the one place that turns entities into JSON and back, so
// that the library behind it can be swapped. Its rules differ from
// encoding/json in two points: member names are matched exactly, case
// included, and a name that occurs twice is an error.
package codec

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options keep the meaning that existing struct tags have under encoding/json:
// omitempty drops zero numbers, nil slices are null, durations are numbers.
var options = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsonv1.FormatDurationAsNano(true),
	jsonv1.FormatByteArrayAsArray(true),
	json.FormatNilSliceAsNull(true),
	json.FormatNilMapAsNull(true),
	json.Deterministic(true),
)

// Encode returns v as JSON.
func Encode(v any) ([]byte, error) { return json.Marshal(v, options) }

// Decode fills v from JSON. Unknown members are ignored.
func Decode(data []byte, v any) error {
	return hideInput(json.Unmarshal(data, v, options))
}

type page[T any] struct {
	Documents []T `json:"Documents"`
}

// DecodePage decodes the documents of a feed page straight into a slice.
func DecodePage[T any](data []byte) ([]T, error) {
	var p page[T]
	if err := Decode(data, &p); err != nil {
		return nil, err
	}
	return p.Documents, nil
}

// hideInput keeps where a document does not fit its type and drops what stood
// there, which may be a customer's data.
func hideInput(err error) error {
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return &MismatchError{Pointer: string(semantic.JSONPointer), GoType: typeName(semantic)}
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return &MismatchError{Pointer: string(syntactic.JSONPointer)}
	}
	return errors.New("a document can't be decoded")
}

func typeName(err *json.SemanticError) string {
	if err.GoType == nil {
		return ""
	}
	return err.GoType.String()
}

// MismatchError says where a document does not fit the entity's struct.
type MismatchError struct {
	// Pointer is the JSON pointer of the member.
	Pointer string
	// GoType is the type that it should fit, when known.
	GoType string
}

// Error names the member and the type, never the value.
func (e *MismatchError) Error() string {
	if e.GoType == "" {
		return "the JSON at " + quoted(e.Pointer) + " is malformed"
	}
	return "the JSON at " + quoted(e.Pointer) + " does not fit Go type " + e.GoType
}

func quoted(pointer string) string {
	if pointer == "" {
		return "the top"
	}
	return `"` + pointer + `"`
}

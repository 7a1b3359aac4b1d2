// Package codec is the one place that turns entities into JSON and back.
//
// What encoding/json stores and reads, it stores and reads, but for what the
// service can't keep or compare: docs/values.md lists the differences. Behind
// it stands github.com/go-json-experiment/json; reading and writing have a way of
// their own (see read_plan.go, writer.go; scalar.go for times, numbers and integers) that leaves everything unusual to that library.
package codec

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options are those of encoding/json, but strict where leniency hides a
// mistake: names are matched exactly, a name that occurs twice and text that
// is not UTF-8 are errors, and so is a type that can't be stored as it stands.
var options = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	jsonv1.MergeWithLegacySemantics(false),
	jsontext.EscapeForHTML(false),
	jsontext.EscapeForJS(false),
	jsontext.PreserveRawStrings(false),
	json.WithMarshalers(json.JoinMarshalers(json.MarshalToFunc(writeTime), json.MarshalToFunc(writeNumber))),
	json.WithUnmarshalers(json.UnmarshalFromFunc(readNumber)),
)

// Encode returns v as JSON as it is stored: times in UTC with seven digits of
// the second, and no integer that the service can't keep. The error is a
// [*ValueError].
func Encode(v any) ([]byte, error) {
	out, err := EncodeText(v)
	if err != nil {
		return nil, err
	}
	if err := checkIntegers(v, out); err != nil {
		return nil, err
	}
	return out, nil
}

// EncodeText is Encode for what is going to be stored inside a text, where
// every integer stays what it is.
func EncodeText(v any) ([]byte, error) {
	if out, ok := write(v); ok {
		return out, nil
	}
	out, err := json.Marshal(v, options)
	if err != nil {
		return nil, encodeError(v, err)
	}
	return out, nil
}

// CheckStored reports what a reader of type t could not read of a document, or
// the service not keep.
func CheckStored(t reflect.Type, raw []byte) error {
	v := reflect.New(t).Interface()
	if err := Decode(raw, v); err != nil {
		return err
	}
	return checkIntegers(v, raw)
}

// Decode fills v, a pointer, from JSON. Unknown members are ignored. The error
// is a [*ValueError].
func Decode(data []byte, v any) error {
	return decodeError(v, json.Unmarshal(data, v, options))
}

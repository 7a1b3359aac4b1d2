package codec

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ValueError says where a value can't be stored, or where stored JSON does not
// fit the Go type. It holds no content: what stood there may be a customer's
// data, and so may be the keys of a map.
type ValueError struct {
	// Path is the way to the member through the struct: JSON names joined by
	// dots, "[]" for an element of a list and "*" for one of a map. It is
	// empty at the top.
	Path string
	// Reason says what is wrong there.
	Reason string
	// Hint says the way out; it may be empty.
	Hint string
}

// Error names the place and the reason, never the value.
func (e *ValueError) Error() string {
	text := e.Reason + " at "
	if e.Path == "" {
		text += "the top"
	} else {
		text += `"` + e.Path + `"`
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// decodeError keeps where JSON does not fit its type and drops what stood
// there.
func decodeError(v any, err error) error {
	if err == nil {
		return nil
	}
	t := reflect.TypeOf(v)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		reason := "the JSON does not fit its Go type"
		if semantic.GoType != nil {
			reason = "the JSON does not fit Go type " + semantic.GoType.String()
		}
		return &ValueError{Path: PathIn(t, string(semantic.JSONPointer)), Reason: reason}
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		reason := "the JSON is malformed"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			reason = "a JSON member occurs twice"
		}
		return &ValueError{Path: PathIn(t, string(syntactic.JSONPointer)), Reason: reason}
	}
	return &ValueError{Reason: "the JSON can't be decoded"}
}

// encodeError keeps where a value can't be written, and drops what its own
// method may have said about it.
func encodeError(v any, err error) error {
	t := reflect.TypeOf(v)
	out := &ValueError{Reason: "the value can't be written as JSON"}
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		if semantic.GoType != nil {
			out.Reason = "a " + semantic.GoType.String() + " can't be written as JSON"
		}
		out.Path = PathIn(t, string(semantic.JSONPointer))
	case errors.As(err, &syntactic):
		out.Path = PathIn(t, string(syntactic.JSONPointer))
		if strings.Contains(syntactic.Err.Error(), "UTF-8") {
			out.Reason = "the text is not valid UTF-8"
		}
	}
	var own *ValueError
	if errors.As(err, &own) {
		out.Reason, out.Hint = own.Reason, own.Hint
	}
	return out
}

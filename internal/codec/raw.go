package codec

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Raw is a value as it is written, cut from what was read: good for as long as
// that is left alone. Text in it may be none that a string of Go holds.
type Raw []byte

// UnmarshalJSON copies the value.
func (r *Raw) UnmarshalJSON(text []byte) error {
	*r = slices.Clone(text)
	return nil
}

// Without returns an object without some of its top-level members. The others
// stay as they are written, in their order.
func Without(raw []byte, names []string) ([]byte, error) {
	d := lenient(raw)
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' || raw[len(raw)-1] != '}' {
		return nil, &ValueError{Reason: "the JSON is no object"}
	}
	out := append(make([]byte, 0, len(raw)), '{')
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, decodeError(nil, err)
		}
		quoted := name.Clone()
		value, err := d.ReadValue()
		if err != nil {
			return nil, decodeError(nil, err)
		}
		plain, _ := jsontext.AppendUnquote(nil, quoted) // text that is not valid is none of the names
		if slices.Contains(names, string(plain)) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted...), ':'), value...)
	}
	return append(out, '}'), nil
}

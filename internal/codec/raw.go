package codec

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Without returns an object without some of its top-level members. The others
// stay as they are written, in their order.
func Without(raw []byte, names []string) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil || d.StackDepth() != 1 || raw[len(raw)-1] != '}' {
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
		plain, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return nil, decodeError(nil, err)
		}
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

package restapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The service promises neither an order of a document's members nor a form of continuation tokens. This file gives both in
// another form that means the same, for a fault.

// otherPrefix begins a continuation token in another form.
const otherPrefix = "other-"

// otherForm changes the form of an answer about items.
func (r *result) otherForm() {
	if body, err := reversed(r.body); err == nil {
		r.body = body
	}
	if r.isFeed && r.continuation != "" {
		r.continuation = otherPrefix + r.continuation
	}
}

// usualForm is a token as it was before faults changed its form.
func usualForm(token string) string {
	for {
		before := token
		token = strings.TrimPrefix(strings.TrimPrefix(token, againPrefix), otherPrefix)
		if token == before {
			return token
		}
	}
}

// reversed is a JSON text with the members of all its objects in falling order.
func reversed(text json.RawMessage) (json.RawMessage, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return text, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	opening, err := d.Token()
	if err != nil {
		return nil, err
	}
	object := opening == json.Delim('{')
	var parts [][]byte
	for d.More() {
		var part []byte
		if object {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			quoted, err := json.Marshal(name)
			if err != nil {
				return nil, err
			}
			part = append(append(part, quoted...), ':')
		}
		var member json.RawMessage
		if err := d.Decode(&member); err != nil {
			return nil, err
		}
		if member, err = reversed(member); err != nil {
			return nil, err
		}
		parts = append(parts, append(part, member...))
	}
	if object {
		slices.Reverse(parts)
	}
	out := append([]byte{text[0]}, bytes.Join(parts, []byte{','})...)
	return append(out, text[len(text)-1]), nil
}

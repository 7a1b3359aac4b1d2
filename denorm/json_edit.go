package denorm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// edit sets one member below a value.
type edit struct {
	tokens []string // the way from the value to the member
	value  json.RawMessage
}

// setMembers sets members of a value and leaves every other byte that carries a
// meaning as it is: unknown members, their order, and the text of numbers that
// a float64 would not hold.
func setMembers(raw json.RawMessage, edits []edit) (json.RawMessage, error) {
	below := map[string][]edit{}
	var order []string
	for _, e := range edits {
		if len(e.tokens) == 0 {
			return e.value, nil
		}
		if below[e.tokens[0]] == nil {
			order = append(order, e.tokens[0])
		}
		below[e.tokens[0]] = append(below[e.tokens[0]], edit{e.tokens[1:], e.value})
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	opening, err := decoder.ReadToken()
	if err != nil {
		return nil, errMalformed
	}
	out := &bytes.Buffer{}
	out.Grow(len(raw) + 64)
	switch opening.Kind() {
	case '{':
		err = setInObject(decoder, below, order, out)
	case '[':
		err = setInArray(decoder, below, out)
	default:
		err = errMalformed
	}
	return out.Bytes(), err
}

var errMalformed = fmt.Errorf("denorm: a stored document is not what was read before: %w", repository.ErrInvalid)

func setInObject(decoder *jsontext.Decoder, below map[string][]edit, order []string, out *bytes.Buffer) error {
	separator := byte('{')
	write := func(name string, value json.RawMessage) error {
		quoted, err := engine.EncodeValue(name)
		out.WriteByte(separator)
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(value)
		separator = ','
		return err
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return errMalformed
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return errMalformed
		}
		next := json.RawMessage(value)
		if edits := below[key]; edits != nil {
			if next, err = setMembers(next, edits); err != nil {
				return err
			}
			delete(below, key)
		}
		if err := write(key, next); err != nil {
			return err
		}
	}
	for _, key := range order {
		for _, e := range below[key] {
			if len(e.tokens) > 0 {
				return errMalformed
			}
			if err := write(key, e.value); err != nil {
				return err
			}
		}
	}
	if separator == '{' {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return nil
}

func setInArray(decoder *jsontext.Decoder, below map[string][]edit, out *bytes.Buffer) error {
	out.WriteByte('[')
	for i := 0; decoder.PeekKind() != ']'; i++ {
		value, err := decoder.ReadValue()
		if err != nil {
			return errMalformed
		}
		next := json.RawMessage(value)
		if edits := below[strconv.Itoa(i)]; edits != nil {
			if next, err = setMembers(next, edits); err != nil {
				return err
			}
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(next)
	}
	out.WriteByte(']')
	return nil
}

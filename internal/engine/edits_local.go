package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cosmosgrove/grove/internal/codec"
)

// touch reports whether the edits change one of these top-level members.
func (e *Edits) touch(names []string) bool {
	return slices.ContainsFunc(e.ops, func(op edit) bool { return slices.Contains(names, pointerTokens(op.path[1:])[0]) })
}

// applyTo returns the members as the edits leave those that are named. It
// foretells what the service is going to do; edits that the service refuses
// change nothing.
func (e *Edits) applyTo(members map[string]json.RawMessage, names []string) map[string]json.RawMessage {
	next := maps.Clone(members)
	for _, op := range e.ops {
		if !slices.Contains(names, pointerTokens(op.path[1:])[0]) {
			continue
		}
		value, err := codec.Encode(op.value)
		if err == nil {
			err = op.on(next, pointerTokens(op.path[1:]), value)
		}
		if err != nil {
			return members
		}
	}
	return next
}

var errNoSuchPlace = errors.New("the path leads nowhere")

// on applies an edit to the members of an object.
func (op *edit) on(members map[string]json.RawMessage, path []string, value json.RawMessage) error {
	have, there := members[path[0]]
	if len(path) > 1 {
		next, err := op.inside(have, path[1:], value)
		if err == nil {
			members[path[0]] = next
		}
		return err
	}
	switch op.op {
	case "remove":
		if !there {
			return errNoSuchPlace
		}
		delete(members, path[0])
	case "incr":
		sum, err := op.sum(have)
		if err != nil {
			return err
		}
		members[path[0]] = sum
	default:
		members[path[0]] = value
	}
	return nil
}

// inside applies an edit to what lies in an object or an array.
func (op *edit) inside(raw json.RawMessage, path []string, value json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if codec.Decode(raw, &members) == nil && members != nil {
		if err := op.on(members, path, value); err != nil {
			return nil, err
		}
		return codec.Encode(members)
	}
	var elements []json.RawMessage
	if err := codec.Decode(raw, &elements); err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(path[0])
	behind := len(path) == 1 && (op.op == "add" || op.op == "set") && (path[0] == "-" || err == nil && i == len(elements))
	switch {
	case behind:
		elements, err = append(elements, value), nil
	case err != nil || i < 0 || i >= len(elements):
		return nil, errNoSuchPlace
	case len(path) > 1:
		elements[i], err = op.inside(elements[i], path[1:], value)
	case op.op == "add":
		elements = slices.Insert(elements, i, value)
	case op.op == "remove":
		elements = slices.Delete(elements, i, i+1)
	case op.op == "incr":
		elements[i], err = op.sum(elements[i])
	default:
		elements[i] = value
	}
	if err != nil {
		return nil, err
	}
	return codec.Encode(elements)
}

// sum adds an increment to a number; nothing there is 0.
func (op *edit) sum(raw json.RawMessage) (json.RawMessage, error) {
	n := 0.0
	if raw != nil {
		if err := codec.Decode(raw, &n); err != nil {
			return nil, err
		}
	}
	n += float64(op.by)
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return strconv.AppendInt(nil, int64(n), 10), nil
	}
	return codec.Encode(n)
}

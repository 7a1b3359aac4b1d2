package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/tenantitem"
)

// RefusedValue makes bad input of what the codec refuses. Neither quotes a value.
func RefusedValue(what string, err error) error {
	var at *codec.ValueError
	if !errors.As(err, &at) {
		return &tenantitem.InvalidError{What: what, Reason: err.Error(), Hint: "use plain values"}
	}
	hint := at.Hint
	if hint == "" {
		hint = "give a value of the field's own type"
	}
	return &tenantitem.InvalidError{What: what, Reason: (&codec.ValueError{Path: at.Path, Reason: at.Reason}).Error(), Hint: hint}
}

// value returns what a set or an add writes, as JSON. It is read into the
// field's Go type first: a value that does not fit would be stored, and then
// no reader could decode the document.
func (c *Collection) value(op edit) ([]byte, error) {
	what := "patch value for " + strconv.Quote(op.path)
	place, ok := codec.PlaceAt(c.model.Type, pointerTokens(op.path[1:]))
	encode := codec.Encode
	if place.Quoted {
		encode = codec.EncodeText
	}
	raw, err := encode(op.value)
	if err != nil {
		return nil, RefusedValue(what, err)
	}
	if !ok || place.Type == nil || string(raw) == "null" {
		return raw, nil
	}
	into := reflect.New(place.Type)
	if err := codec.Decode(raw, into.Interface()); err != nil {
		return nil, RefusedValue(what, err)
	}
	if holdsTimes(place.Type) {
		// Text that holds a time gets the form that sorts.
		if raw, err = codec.Encode(into.Interface()); err != nil {
			return nil, RefusedValue(what, err)
		}
	}
	if place.Quoted {
		return codec.Encode(string(raw))
	}
	return raw, nil
}

// holdsTimes reports a time, or a list or map of times.
func holdsTimes(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t == timeType
}

// bounds are what an integer type holds and the service keeps.
type bounds struct{ low, high int64 }

func boundsOf(t reflect.Type) (b bounds, ok bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := reflect.Zero(t); {
	case v.CanInt():
		b = bounds{-codec.MaxInteger, codec.MaxInteger}
		if bits := t.Bits(); bits < 54 {
			b = bounds{-1 << (bits - 1), 1<<(bits-1) - 1}
		}
	case v.CanUint():
		b = bounds{0, codec.MaxInteger}
		if bits := t.Bits(); bits < 54 {
			b.high = 1<<bits - 1
		}
	default:
		return b, false
	}
	return b, true
}

// counted is how far the increments of one patch move one number.
type counted struct {
	path   string
	bounds bounds
	known  bool // the patch sets it before
	// sum is how far it is moved, or what it is where that is known; lowest
	// and highest are the ends of the way there.
	sum, lowest, highest int64
}

// add takes in one more increment. It reports false when the number leaves the
// range whatever it was.
func (n *counted) add(by int64) bool {
	n.sum += by
	n.lowest, n.highest = min(n.lowest, n.sum), max(n.highest, n.sum)
	if n.known {
		return n.sum >= n.bounds.low && n.sum <= n.bounds.high
	}
	return n.bounds.low-n.lowest <= n.bounds.high-n.highest
}

// condition holds where the increments keep the number in its type's range. A
// number that is missing counts as 0.
func (n *counted) condition() string {
	var parts []string
	if n.lowest < 0 {
		parts = append(parts, fmt.Sprintf("%s >= %d", n.path, n.bounds.low-n.lowest))
	}
	if n.highest > 0 {
		parts = append(parts, fmt.Sprintf("%s <= %d", n.path, n.bounds.high-n.highest))
	}
	if len(parts) == 0 || n.known {
		return ""
	}
	inside := strings.Join(parts, " AND ")
	if n.lowest < n.bounds.low || n.highest > n.bounds.high {
		return "(" + inside + ")"
	}
	return "(NOT IS_DEFINED(" + n.path + ") OR (" + inside + "))"
}

// inRange returns the conditions under which no increment leaves its field's
// range, and refuses those that would in any case.
func (c *Collection) inRange(ops []edit) ([]string, error) {
	var order []string
	numbers := map[string]*counted{}
	for i, op := range ops {
		if op.op != "incr" {
			continue
		}
		refuse := func(reason, hint string) error {
			return &tenantitem.InvalidError{What: "increment of " + strconv.Quote(op.path), Reason: reason, Hint: hint}
		}
		if op.by > codec.MaxInteger || op.by < -codec.MaxInteger {
			return nil, refuse("it lies beyond 2^53, where the service keeps another number", `count in a field that is stored as text, json:",string", with Mutate`)
		}
		tokens := pointerTokens(op.path[1:])
		place, ok := codec.PlaceAt(c.model.Type, tokens)
		if !ok || place.Type == nil {
			continue
		}
		limits, ok := boundsOf(place.Type)
		if !ok {
			continue
		}
		n := numbers[op.path]
		if n == nil {
			n = &counted{path: pointerSQL(c.model.Type, tokens), bounds: limits}
			if err := n.after(ops[:i], op.path); err != nil {
				return nil, refuse(err.Error(), "set the number that it comes to, or use two patches")
			}
			numbers[op.path] = n
			order = append(order, op.path)
		}
		if !n.add(op.by) {
			return nil, refuse("it leaves the range of the field's type", "use a wider type")
		}
	}
	var conditions []string
	for _, path := range order {
		if text := numbers[path].condition(); text != "" {
			conditions = append(conditions, text)
		}
	}
	return conditions, nil
}

var errBuildsUpon = errors.New("it builds upon an earlier change of the same patch")

// after takes in what earlier edits of the same patch do to the number.
func (n *counted) after(earlier []edit, path string) error {
	for _, op := range earlier {
		switch {
		case op.op == "incr":
		case op.path == path && (op.op == "set" || op.op == "add"):
			raw, err := codec.Encode(op.value)
			if err != nil {
				return errBuildsUpon
			}
			if n.sum, err = strconv.ParseInt(string(raw), 10, 64); err != nil {
				return errBuildsUpon
			}
			n.known = true
		case changesPlace(op, path):
			return errBuildsUpon
		}
	}
	return nil
}

// changesPlace reports whether an edit may change what a pointer leads to:
// something that holds it, or an array in which elements move.
func changesPlace(op edit, path string) bool {
	if strings.HasPrefix(path+"/", op.path+"/") {
		return true
	}
	i := strings.LastIndexByte(op.path, '/')
	return op.op != "set" && i > 0 && strings.HasPrefix(path, op.path[:i+1])
}

// pointerSQL writes the tokens of a pointer as a path of the root alias.
func pointerSQL(t reflect.Type, tokens []string) string {
	var b strings.Builder
	b.WriteString(RootAlias)
	for i, token := range tokens {
		kind := reflect.Struct
		if outer, ok := codec.PlaceAt(t, tokens[:i]); ok && outer.Type != nil {
			for kind = outer.Type.Kind(); kind == reflect.Pointer; kind = outer.Type.Kind() {
				outer.Type = outer.Type.Elem()
			}
		}
		if kind == reflect.Slice || kind == reflect.Array {
			b.WriteString("[" + token + "]")
			continue
		}
		b.WriteString("[" + strconv.Quote(token) + "]")
	}
	return b.String()
}

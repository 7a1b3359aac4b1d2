package store

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// step is a patch operation with its pointers taken apart. number counts from one, as the messages do.
type step struct {
	number     int
	kind       string
	path, from []string
	value      *node
}

const patchHelp = " Learn more: https://aka.ms/cosmosdbpatchdocs"

func (s *step) refuse(format string, args ...any) error {
	return badRequest("For Operation(%d): %s%s", s.number, fmt.Sprintf(format, args...), patchHelp)
}

// parseStep checks what does not depend on the document (400).
func parseStep(number int, op PatchOperation, d *Definition) (*step, error) {
	s := &step{number: number, kind: strings.ToLower(op.Kind), value: leaf("null")}
	switch s.kind {
	case "add", "set", "replace", "remove", "incr", "move":
	default:
		return nil, s.refuse("the operation is none of add, set, replace, remove, incr and move.")
	}
	if op.Value != nil {
		n, _, err := parseNode(op.Value)
		if err != nil {
			return nil, s.refuse("the value is not valid: %v.", err)
		}
		s.value = n
	}
	var err error
	if s.path, err = s.pointer(op.Path, d); err != nil {
		return nil, err
	}
	if s.kind != "move" {
		return s, nil
	}
	if s.from, err = s.pointer(op.From, d); err != nil {
		return nil, err
	}
	if len(s.path) > len(s.from) && slices.Equal(s.path[:len(s.from)], s.from) {
		return nil, s.refuse("Move Operation can't move a value to a place below itself.")
	}
	return s, nil
}

// maxIndexDigits is the length from which the service refuses a token that looks like a number.
const maxIndexDigits = 19

// pointer reads a JSON pointer and refuses paths that no patch may touch.
func (s *step) pointer(text string, d *Definition) ([]string, error) {
	if len(text) < 2 || text[0] != '/' {
		return nil, s.refuse("the path should be a JSON pointer that begins with a slash and names a property.")
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		if len(token) > maxIndexDigits && strings.Trim(token, "0123456789") == "" {
			return nil, badRequest("Token('%s') has length longer than expected.", token)
		}
		token = strings.ReplaceAll(token, "~1", "/")
		tokens[i] = strings.ReplaceAll(token, "~0", "~")
	}
	if len(tokens) == 1 && tokens[0] == "id" || isSystemProperty(tokens[0]) {
		return nil, s.refuse("the property '%s' can't be patched.", tokens[0])
	}
	for _, key := range d.keyTokens {
		if n := len(key); len(tokens) >= n && slices.Equal(tokens[:n], key) {
			return nil, s.refuse("a property of the partition key can't be patched.")
		}
	}
	return tokens, nil
}

// apply changes the tree. A tree that was refused half-way is of no use any more.
func (s *step) apply(root *node) error {
	if s.kind == "move" {
		moved, err := s.take(root)
		if err != nil {
			return err
		}
		s.value = moved
	}
	parent, err := s.parent(root, s.path)
	if err != nil {
		return err
	}
	last := s.path[len(s.path)-1]
	if parent.isArray() {
		return s.applyToArray(parent, last)
	}
	return s.applyToObject(parent, last)
}

// take removes what a move moves and returns it.
func (s *step) take(root *node) (*node, error) {
	parent, err := s.parent(root, s.from)
	if err != nil {
		return nil, err
	}
	last := s.from[len(s.from)-1]
	if parent.isArray() {
		at, ok := arrayIndex(last, len(parent.elements)-1)
		if !ok {
			return nil, s.missing(last)
		}
		moved := parent.elements[at]
		parent.elements = slices.Delete(parent.elements, at, at+1)
		return moved, nil
	}
	moved := parent.get(last)
	if moved == nil {
		return nil, s.missing(last)
	}
	parent.remove(last)
	return moved, nil
}

// parent follows all but the last token. The node it returns is an open object or array.
func (s *step) parent(root *node, tokens []string) (*node, error) {
	at := root
	for i, token := range tokens {
		if !at.isObject() && !at.isArray() {
			return nil, s.beyond(tokens[max(i-1, 0)])
		}
		at.open()
		if i == len(tokens)-1 {
			break
		}
		next := at.get(token)
		if at.isArray() {
			if n, ok := arrayIndex(token, len(at.elements)-1); ok {
				next = at.elements[n]
			}
		}
		if next == nil {
			return nil, s.beyond(token)
		}
		at = next
	}
	return at, nil
}

func (s *step) name() string { return strings.ToUpper(s.kind[:1]) + s.kind[1:] }

func (s *step) beyond(token string) error {
	return s.refuse("%s Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: '%s'.", s.name(), token)
}

func (s *step) missing(token string) error {
	return s.refuse("%s Operation can only be done on a property that exists, none found at: '%s'.", s.name(), token)
}

func (s *step) applyToObject(o *node, name string) error {
	present := o.get(name)
	switch s.kind {
	case "replace":
		if present == nil {
			return s.missing(name)
		}
	case "remove":
		if !o.remove(name) {
			return s.missing(name)
		}
		return nil
	case "incr":
		sum, err := s.sum(present)
		if err != nil {
			return err
		}
		s.value = sum
	}
	o.set(name, s.value)
	return nil
}

func (s *step) applyToArray(a *node, token string) error {
	length := len(a.elements)
	at, inside := arrayIndex(token, length-1)
	end := token == "-"
	if n, ok := arrayIndex(token, length); ok && n == length {
		end = true
	}
	switch {
	case s.kind == "remove" && inside:
		a.elements = slices.Delete(a.elements, at, at+1)
	case s.kind == "incr" && inside:
		sum, err := s.sum(a.elements[at])
		if err != nil {
			return err
		}
		a.elements[at] = sum
	case (s.kind == "replace" || s.kind == "set") && inside:
		a.elements[at] = s.value
	case (s.kind == "add" || s.kind == "move") && inside:
		a.elements = slices.Insert(a.elements, at, s.value)
	case (s.kind == "add" || s.kind == "move" || s.kind == "set") && end:
		a.elements = append(a.elements, s.value)
	default:
		return s.refuse("%s Operation can't be done at '%s': it is no index of the array, which has %d elements.", s.name(), token, length)
	}
	return nil
}

// arrayIndex reads an array index from 0 to last.
func arrayIndex(token string, last int) (int, bool) {
	if token == "" || strings.Trim(token, "0123456789") != "" || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(token)
	return n, err == nil && n <= last
}

// sum adds the step's value to what is there, as doubles.
func (s *step) sum(present *node) (*node, error) {
	if !s.value.isNumber() {
		return nil, s.refuse("Incr Operation needs a number as its value.")
	}
	if present == nil {
		return s.value, nil
	}
	if !present.isNumber() {
		return nil, s.refuse("Incr Operation can only be done on a number.")
	}
	x, err1 := strconv.ParseFloat(string(present.raw), 64)
	y, err2 := strconv.ParseFloat(string(s.value.raw), 64)
	if err1 != nil || err2 != nil || math.IsInf(x+y, 0) {
		return nil, s.refuse("the sum is beyond the range of numbers.")
	}
	return &node{raw: value.AppendNumber(nil, x+y)}, nil
}

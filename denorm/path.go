package denorm

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// step is one member on the way to the objects that hold a copy.
type step struct {
	name  string
	array bool // the member is an array, and every element is meant
}

// stepsOf splits the way to a field's holder: "items[].productName" is held by
// every element of "items".
func stepsOf(path string) []step {
	parts := strings.Split(path, ".")
	steps := make([]step, 0, len(parts)-1)
	for _, part := range parts[:len(parts)-1] {
		name, array := strings.CutSuffix(part, "[]")
		steps = append(steps, step{name, array})
	}
	return steps
}

// checkPath refuses a field whose way can't be split into its members.
func (typ *entityType) checkPath(d fmt.Stringer, f *tenantitem.Field) error {
	model := typ.entity.Model
	for f != nil {
		if err := checkName(d, model.Name, f); err != nil {
			return err
		}
		outer := strings.TrimSuffix(f.Path[:len(f.Path)-len(f.Name)], ".")
		holder, ok := model.Field(outer)
		if !ok { // the elements of an array hold it, or the document does
			holder, _ = model.Field(strings.TrimSuffix(outer, "[]"))
		}
		f = holder
	}
	return nil
}

func checkName(d fmt.Stringer, of string, f *tenantitem.Field) error {
	if !strings.Contains(f.Name, ".") && !strings.HasSuffix(f.Name, "[]") {
		return nil
	}
	return refuse(d, fmt.Sprintf("%q of %s has a dot in its name, or [] behind it", f.Name, of), "give it another json tag: paths are split there")
}

// topOf is the top-level member that a path begins with.
func topOf(path string) string {
	top, _, _ := strings.Cut(path, ".")
	return strings.TrimSuffix(top, "[]")
}

// holder is an object in a stored document that directly holds a copy.
type holder struct {
	pointer string // JSON pointer of the object; empty for the document
	members map[string]json.RawMessage
}

// at is the pointer of a member.
func (h holder) at(name string) string { return h.pointer + "/" + escapePointer(name) }

// text returns a member that is a string, and "" for anything else.
func (h holder) text(name string) string {
	var s string
	if raw, ok := h.members[name]; !ok || engine.DecodeValue(raw, &s) != nil {
		return ""
	}
	return s
}

// holdersIn finds the objects at the end of steps. What is missing or null
// holds nothing; what has another shape than the entity's struct is an error.
func holdersIn(members map[string]json.RawMessage, steps []step, pointer string, found []holder) ([]holder, error) {
	if len(steps) == 0 {
		return append(found, holder{pointer, members}), nil
	}
	raw, ok := members[steps[0].name]
	if !ok {
		return found, nil
	}
	pointer += "/" + escapePointer(steps[0].name)
	elements := []map[string]json.RawMessage{nil}
	into := any(&elements)
	if !steps[0].array {
		into = &elements[0]
	}
	if err := engine.DecodeValue(raw, into); err != nil {
		return nil, fmt.Errorf("denorm: the member at %s has another shape than its struct: %w", pointer, err)
	}
	var err error
	for i, inner := range elements {
		if inner == nil {
			continue
		}
		at := pointer
		if steps[0].array {
			at += "/" + strconv.Itoa(i)
		}
		if found, err = holdersIn(inner, steps[1:], at, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// memberAt follows a path without array steps; nil is nothing there.
func memberAt(members map[string]json.RawMessage, path string) json.RawMessage {
	name, rest, deeper := strings.Cut(path, ".")
	raw := members[name]
	if !deeper || raw == nil {
		return raw
	}
	var inner map[string]json.RawMessage
	if engine.DecodeValue(raw, &inner) != nil {
		return nil
	}
	return memberAt(inner, rest)
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func splitPointer(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}

// fieldSQL writes a path as the query language has it, after an alias.
func fieldSQL(alias string, path ...string) string {
	var b strings.Builder
	b.WriteString(alias)
	for _, part := range path {
		for name := range strings.SplitSeq(part, ".") {
			b.WriteString("[" + strconv.Quote(name) + "]")
		}
	}
	return b.String()
}

package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// MaxPatchOperations is the service's limit on one patch.
const MaxPatchOperations = 10

// Edits are changes to parts of a document, applied by Patch in their order,
// all or none. Paths are JSON pointers ("/title", "/address/city", "/tags/0",
// "/tags/-"), and each must lead to a field of the entity that can hold the
// value. It is a value: every method returns a changed copy. Start one with
// [Set], [Add], [Remove] or [Increment].
//
// A value that the field's Go type can't hold is refused before any request.
// An increment that would leave the type's range fails with
// [ErrPreconditionFailed].
//
// The verb that sends them is in patch.go of package repository. What becomes of
// one whose answer was lost is decided in outcome.go, by the mark that it leaves
// (marks.go); that is why an increment isn't applied twice.
type Edits struct {
	ops        []edit
	conditions []Predicate
	ETag       string
}

type edit struct {
	op    string
	path  string
	value any
	by    int64
}

// Set writes a field, whether it is there or not. A nil value writes null.
func Set(path string, value any) Edits { return Edits{}.Set(path, value) }

// Add writes a field of an object, or inserts into an array: before an index,
// or at its end with "/tags/-".
func Add(path string, value any) Edits { return Edits{}.Add(path, value) }

// Remove takes a field, or an element of an array, away. It must be there.
func Remove(path string) Edits { return Edits{}.Remove(path) }

// Increment adds to a number; a field that is missing counts as 0. For lost answers
// see [Edits].
func Increment(path string, by int64) Edits { return Edits{}.Increment(path, by) }

// Set is [Set] as a further change.
func (e Edits) Set(path string, value any) Edits {
	return e.with(edit{op: "set", path: path, value: value})
}

// Add is [Add] as a further change.
func (e Edits) Add(path string, value any) Edits {
	return e.with(edit{op: "add", path: path, value: value})
}

// Remove is [Remove] as a further change.
func (e Edits) Remove(path string) Edits { return e.with(edit{op: "remove", path: path}) }

// Increment is [Increment] as a further change.
func (e Edits) Increment(path string, by int64) Edits {
	return e.with(edit{op: "incr", path: path, by: by})
}

// If applies the edits only to a document for which the conditions hold;
// otherwise the patch fails with [ErrPreconditionFailed].
func (e Edits) If(conditions ...Predicate) Edits {
	e.conditions = append(slices.Clip(e.conditions), conditions...)
	return e
}

// IfMatch applies the edits only to the document with that etag.
func (e Edits) IfMatch(etag string) Edits {
	e.ETag = etag
	return e
}

func (e Edits) with(op edit) Edits {
	e.ops = append(slices.Clip(e.ops), op)
	return e
}

// Operations checks the edits against the entity and returns them as a
// patch. The mark is added where the limit leaves room; reports whether.
func (c *Collection) Operations(tenant string, e Edits, mark string) (ops cosmos.Patch, isMarked bool, err error) {
	if len(e.ops) == 0 || len(e.ops) > MaxPatchOperations {
		return ops, false, &tenantitem.InvalidError{What: "patch", Reason: fmt.Sprintf("%d operations", len(e.ops)), Hint: "give 1 to 10; set a whole object instead of its members, or use Mutate"}
	}
	for _, op := range e.ops {
		if err := c.checkEdit(op); err != nil {
			return ops, false, err
		}
		var value json.RawMessage
		if op.op == "set" || op.op == "add" {
			// As text that is already JSON, so that null is sent and the
			// entity's own encoding rules hold.
			if value, err = c.value(op); err != nil {
				return ops, false, err
			}
		}
		switch op.op {
		case "set":
			ops.Set(op.path, value)
		case "add":
			ops.Add(op.path, value)
		case "remove":
			ops.Remove(op.path)
		case "incr":
			ops.Increment(op.path, op.by)
		}
	}
	ranges, err := c.inRange(e.ops)
	if err != nil {
		return ops, false, err
	}
	condition, err := c.condition(tenant, e.conditions, ranges...)
	if err != nil {
		return ops, false, err
	}
	ops.Condition = condition
	if isMarked = mark != "" && len(e.ops) < MaxPatchOperations; isMarked {
		ops.Set("/"+markField, mark)
	}
	return ops, isMarked, nil
}

func (c *Collection) checkEdit(op edit) error {
	refuse := func(reason, hint string) error {
		return &tenantitem.InvalidError{What: "patch path " + strconv.Quote(op.path), Reason: reason, Hint: hint}
	}
	tokens, ok := strings.CutPrefix(op.path, "/")
	if !ok || tokens == "" {
		return refuse("it is not a JSON pointer", `write "/title"`)
	}
	name, field, err := c.fieldAt(tokens)
	if err != nil {
		return err
	}
	for _, g := range c.hooks.guarded {
		if overlaps(g.Path, name) {
			return refuse("it can't be patched: "+g.Reason, g.Hint)
		}
	}
	switch {
	case field == nil:
	case field.Path == "deletedAt":
		return refuse("it says when the document was deleted", "use Delete, Restore and Purge")
	case field.Path == "ttl":
		return refuse("it is the document's time to live", "use Mutate and set TTL")
	}
	if field == nil {
		return nil // inside a value whose shape the struct does not tell
	}
	if field.Path == "id" || field.Path == tenantField || field.Path == entityField || strings.HasPrefix(name, "_") || c.holdsKey(field) {
		return refuse("it is part of the document's identity", "create a new document and delete the old one")
	}
	element := field.Kind == tenantitem.KindArray && name != field.Path
	kind := field.Kind
	if element {
		kind = field.Elem
	}
	switch op.op {
	case "incr":
		if field.Quoted {
			return refuse("the number is stored as text, which the service can't add to", "use Mutate")
		}
		if kind != tenantitem.KindNumber && kind != tenantitem.KindAny {
			return refuse("the field is not a number", "use Set")
		}
		if strings.HasSuffix(op.path, "/-") {
			return refuse("\"-\" is no element", "use an index")
		}
	case "set", "add":
		if have := kindOfValue(op.value); !field.Quoted && !kindsCompare(kind, have) {
			return refuse(fmt.Sprintf("a %T does not fit the field", op.value), "give a value of the field's own type")
		}
	}
	return nil
}

// overlaps reports whether one of two paths leads to or into the other.
func overlaps(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// fieldAt finds the field that a pointer leads to. name is the way with array
// steps written as "[]"; field is nil beyond what the struct describes.
func (c *Collection) fieldAt(pointer string) (name string, field *tenantitem.Field, err error) {
	for _, token := range pointerTokens(pointer) {
		if field != nil {
			kind := field.Kind
			if strings.HasSuffix(name, "[]") {
				kind = field.Elem // an element was reached
			}
			switch kind {
			case tenantitem.KindArray:
				if token != "-" && strings.Trim(token, "0123456789") != "" || token == "" {
					return "", nil, &tenantitem.InvalidError{What: "patch path", Reason: fmt.Sprintf("%q is an array and %q is neither an index nor \"-\"", field.Path, token), Hint: "use an index"}
				}
				name += "[]"
				continue
			case tenantitem.KindObject:
			case tenantitem.KindAny:
				return name, nil, nil
			default:
				return "", nil, c.model.UnknownField(name + "." + token)
			}
			name += "."
		}
		name += token
		next, ok := c.model.Field(name)
		// "address.city" is the way to a field, and no member's name.
		if !ok || next.Name != token {
			if field != nil && c.isOpen(field) {
				return name, nil, nil
			}
			return "", nil, c.model.UnknownField(name)
		}
		field = next
	}
	return name, field, nil
}

// pointerTokens takes a JSON pointer apart that was given without its first
// slash.
func pointerTokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		if strings.Contains(token, "~") {
			tokens[i] = unescape.Replace(token)
		}
	}
	return tokens
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// isOpen reports whether a field's members are not fixed by its type: a map.
func (c *Collection) isOpen(f *tenantitem.Field) bool {
	for _, other := range c.model.Fields {
		if strings.HasPrefix(other.Path, f.Path+".") || strings.HasPrefix(other.Path, f.Path+"[].") {
			return false
		}
	}
	return true
}

// holdsKey reports whether a field is one that the key is made of, or an object
// with one inside.
func (c *Collection) holdsKey(f *tenantitem.Field) bool {
	return slices.ContainsFunc(c.levels, func(l keyLevel) bool {
		return slices.ContainsFunc(l.source.Uses(), func(path string) bool { return overlaps(path, f.Path) })
	})
}

// condition writes a patch's condition. Parameters are not served there, so
// values are written as JSON, which is what the language's literals are.
func (c *Collection) condition(tenant string, conditions []Predicate, further ...string) (string, error) {
	if c.Tombstones {
		conditions = append(slices.Clone(conditions), Missing("deletedAt"))
	}
	conditions = append(slices.Clip(conditions), c.ours(tenant)...)
	if len(conditions)+len(further) == 0 {
		return "", nil
	}
	w := &SQLWriter{model: c.model, layout: c.layout, literal: true}
	w.Text.WriteString("FROM " + RootAlias + " WHERE ")
	if err := And(conditions...).Write(w); err != nil {
		return "", err
	}
	if w.err != nil {
		return "", w.err
	}
	for _, text := range further {
		w.Text.WriteString(" AND " + text)
	}
	return w.Text.String(), nil
}

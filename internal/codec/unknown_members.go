package codec

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// eachMember calls visit with the members of an object; nothing for any other
// value. Values are good until visit returns.
func eachMember(raw []byte, visit func(name string, value jsontext.Value)) {
	d := lenient(raw)
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return
		}
		visit(name, value)
	}
}

// Members calls visit with the top-level members of an object, whatever they
// hold. Values are good until visit returns.
func Members(raw []byte, visit func(name string, value []byte)) {
	eachMember(raw, func(name string, value jsontext.Value) { visit(name, value) })
}

// Canonical returns an object in one fixed form, without the top-level members
// that skip names.
func Canonical(raw []byte, skip func(name string) bool) []byte {
	out := []byte{'{'}
	eachMember(raw, func(name string, value jsontext.Value) {
		if skip(name) {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = AppendText(out, name)
		out = append(append(out, ':'), value...)
	})
	return canonical(append(out, '}'))
}

func elementsOf(raw []byte) []jsontext.Value {
	d := lenient(raw)
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return nil
	}
	var out []jsontext.Value
	for k := d.PeekKind(); k != ']' && k != 0; k = d.PeekKind() {
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		out = append(out, value.Clone())
	}
	return out
}

// lenient reads what another writer stored. Of a bytes.Buffer the decoder makes no copy.
func lenient(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func memberOf(t reflect.Type, name string) (*member, bool) {
	if t = dereference(t); t.Kind() != reflect.Struct || isOpaque(t) {
		return nil, false
	}
	m, ok := shapeOf(t).byName[name]
	return m, ok
}

// hasUnknown reports whether a known member holds members that its type does
// not have.
func hasUnknown(t reflect.Type, name string, value jsontext.Value) bool {
	m, ok := memberOf(t, name)
	return ok && holdsUnknown(m.typ, value)
}

func holdsUnknown(t reflect.Type, raw []byte) bool {
	if t = dereference(t); isOpaque(t) || t == timeType {
		return false
	}
	found := false
	switch t.Kind() {
	case reflect.Struct:
		eachMember(raw, func(name string, value jsontext.Value) {
			m, ok := memberOf(t, name)
			found = found || !ok || holdsUnknown(m.typ, value)
		})
	case reflect.Map:
		eachMember(raw, func(_ string, value jsontext.Value) { found = found || holdsUnknown(t.Elem(), value) })
	case reflect.Slice, reflect.Array:
		for _, element := range elementsOf(raw) {
			found = found || holdsUnknown(t.Elem(), element)
		}
	}
	return found
}

// KeepUnknown returns next, an encoded value of type t, with the members of
// before that t does not have: of the same object, of the same key of a map,
// and of the element of a list that it can tell to be the same, see
// [sameElement]. skip says which members at the top are left out.
//
// WithUnknown (internal/document/kept.go) calls it for every write of a whole
// entity that was read before: Replace, Save, Upsert and Mutate, alone, in batches
// and in bulks (encode of package repository). A patch sends only what it changes.
func KeepUnknown(t reflect.Type, before, next []byte, skip func(name string) bool) []byte {
	if t = dereference(t); isOpaque(t) || t == timeType || len(next) == 0 {
		return next
	}
	switch t.Kind() {
	case reflect.Struct:
		if next[0] == '{' {
			return keepInStruct(t, before, next, skip)
		}
	case reflect.Map:
		if next[0] == '{' {
			return rewriteMembers(next, func(name string, value jsontext.Value) []byte {
				if old := memberNamed(before, name); old != nil {
					return KeepUnknown(t.Elem(), old, value, nil)
				}
				return value
			}, nil)
		}
	case reflect.Slice, reflect.Array:
		if next[0] == '[' {
			return keepInElements(t.Elem(), before, next)
		}
	}
	return next
}

func keepInStruct(t reflect.Type, before, next []byte, skip func(name string) bool) []byte {
	var extra []byte
	eachMember(before, func(name string, value jsontext.Value) {
		if _, known := memberOf(t, name); known || skip != nil && skip(name) {
			return
		}
		extra = append(extra, ',')
		extra = AppendText(extra, name)
		extra = append(append(extra, ':'), value...)
	})
	return rewriteMembers(next, func(name string, value jsontext.Value) []byte {
		m, known := memberOf(t, name)
		if !known {
			return value
		}
		if old := memberNamed(before, name); old != nil {
			return KeepUnknown(m.typ, old, value, nil)
		}
		return value
	}, extra)
}

// rewriteMembers writes an object again, each value as rewrite returns it, and
// further members behind.
func rewriteMembers(raw []byte, rewrite func(name string, value jsontext.Value) []byte, extra []byte) []byte {
	out := append(make([]byte, 0, len(raw)+len(extra)), '{')
	eachMember(raw, func(name string, value jsontext.Value) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = AppendText(out, name)
		out = append(append(out, ':'), rewrite(name, value)...)
	})
	if len(out) == 1 && len(extra) > 0 {
		extra = extra[1:]
	}
	return append(append(out, extra...), '}')
}

func memberNamed(raw []byte, name string) []byte {
	var found []byte
	eachMember(raw, func(n string, value jsontext.Value) {
		if n == name {
			found = slices.Clone(value)
		}
	})
	return found
}

// keepInElements does the same for a list. An element keeps its unknown
// members if it has the id of exactly one earlier element, or else, where
// elements have no id, if its known members are those of exactly one earlier
// element. One that was changed and has no id is a new one: members of another
// element must not end up in it.
func keepInElements(t reflect.Type, before, next []byte) []byte {
	old := elementsOf(before)
	if len(old) == 0 || !holdsUnknownAny(t, old) {
		return next
	}
	out := append(make([]byte, 0, len(next)), '[')
	for i, element := range elementsOf(next) {
		if i > 0 {
			out = append(out, ',')
		}
		if same := sameElement(t, old, element); same != nil {
			element = KeepUnknown(t, same, element, nil)
		}
		out = append(out, element...)
	}
	return append(out, ']')
}

func holdsUnknownAny(t reflect.Type, elements []jsontext.Value) bool {
	return slices.ContainsFunc(elements, func(e jsontext.Value) bool { return holdsUnknown(t, e) })
}

// sameElement returns the one earlier element that this one is, or nil.
func sameElement(t reflect.Type, old []jsontext.Value, element jsontext.Value) []byte {
	identity := func(raw []byte) []byte { return knownPart(t, raw) }
	if _, has := memberOf(t, "id"); has {
		identity = func(raw []byte) []byte { return canonical(memberNamed(raw, "id")) }
	}
	want := identity(element)
	if want == nil {
		return nil
	}
	var found []byte
	for _, candidate := range old {
		if bytes.Equal(identity(candidate), want) {
			if found != nil {
				return nil // it can't be told which
			}
			found = candidate
		}
	}
	return found
}

// knownPart is what a type makes of JSON.
func knownPart(t reflect.Type, raw []byte) []byte {
	v := reflect.New(t)
	if Decode(raw, v.Interface()) != nil {
		return nil
	}
	out, err := Encode(v.Interface())
	if err != nil {
		return nil
	}
	return canonical(out)
}

func canonical(raw []byte) []byte {
	v := jsontext.Value(slices.Clone(raw))
	if len(v) == 0 || v.Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return nil
	}
	return v
}

package codec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// member is one JSON member of a struct.
type member struct {
	name   string
	index  []int
	typ    reflect.Type
	quoted bool // the tag option "string", where it has an effect
	tagged bool
}

// shape are the members of a struct as encoding/json sees them.
type shape struct {
	members []*member
	byName  map[string]*member
}

var shapes sync.Map // reflect.Type -> *shape: a pure function of the type

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := readShape(t)
	shapes.Store(t, s)
	return s
}

// readShape goes through the struct and those that it embeds, level by level:
// a member of an outer level hides those of the same name further in, and two
// of one level hide each other unless just one has its name from a tag.
func readShape(t reflect.Type) *shape {
	s := &shape{byName: map[string]*member{}}
	type place struct {
		t     reflect.Type
		index []int
	}
	seen := map[reflect.Type]bool{}
	for level := []place{{t, nil}}; len(level) > 0; {
		var next []place
		found := map[string][]*member{}
		var order []string
		for _, at := range level {
			if seen[at.t] {
				continue
			}
			seen[at.t] = true
			for i := range at.t.NumField() {
				sf := at.t.Field(i)
				name, quoted, ok := nameOf(sf)
				if !ok {
					continue
				}
				index := append(slices.Clone(at.index), i)
				inner := dereference(sf.Type)
				if sf.Anonymous && name == "" && inner.Kind() == reflect.Struct {
					next = append(next, place{inner, index})
					continue
				}
				if !sf.IsExported() {
					continue
				}
				m := &member{name: name, index: index, typ: sf.Type, quoted: quoted && isQuotable(sf.Type), tagged: name != ""}
				if name == "" {
					m.name = sf.Name
				}
				if found[m.name] == nil {
					order = append(order, m.name)
				}
				found[m.name] = append(found[m.name], m)
			}
		}
		for _, name := range order {
			if _, hidden := s.byName[name]; hidden {
				continue
			}
			m := dominant(found[name])
			s.byName[name] = m // nil hides those further in, too
			if m != nil {
				s.members = append(s.members, m)
			}
		}
		level = next
	}
	for name, m := range s.byName {
		if m == nil {
			delete(s.byName, name)
		}
	}
	return s
}

func dominant(candidates []*member) *member {
	if len(candidates) == 1 {
		return candidates[0]
	}
	var only *member
	for _, m := range candidates {
		if m.tagged && only != nil {
			return nil
		}
		if m.tagged {
			only = m
		}
	}
	return only
}

// nameOf reads a field's tag; ok is false for a field that is not stored.
func nameOf(sf reflect.StructField) (name string, quoted, ok bool) {
	tag, tagged := sf.Tag.Lookup("json")
	if tag == "-" || !sf.IsExported() && !sf.Anonymous {
		return "", false, false
	}
	if !tagged {
		return "", false, true
	}
	name, options, _ := strings.Cut(tag, ",")
	return name, slices.Contains(strings.Split(options, ","), "string"), true
}

func dereference(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isQuotable reports the types on which the tag option "string" has an effect.
func isQuotable(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return !hasMethods(t)
	}
	return false
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	rawType      = reflect.TypeFor[Raw]()
	numberType   = reflect.TypeFor[json.Number]()
	ownMarshals  = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[jsonv2.MarshalerTo](), reflect.TypeFor[encoding.TextAppender]()}
	ownUnmarshal = []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[jsonv2.UnmarshalerFrom]()}
)

// hasMethods reports whether a type writes or reads itself.
func hasMethods(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, of := range [][]reflect.Type{ownMarshals, ownUnmarshal} {
		for _, i := range of {
			if t.Implements(i) || p.Implements(i) {
				return true
			}
		}
	}
	return false
}

// isOpaque reports whether a type's own methods decide what is stored.
func isOpaque(t reflect.Type) bool { return t.Kind() == reflect.Interface || hasMethods(t) }

// Place is what a JSON pointer leads to in a Go type.
type Place struct {
	// Type is the Go type there, pointers included; nil where the type does
	// not tell: inside an any, a json.RawMessage or a type that reads itself.
	Type reflect.Type
	// Quoted says that a number or boolean is stored as text there.
	Quoted bool
}

// PlaceAt follows the tokens of a JSON pointer through a type. It reports
// false when they lead to no member.
func PlaceAt(t reflect.Type, tokens []string) (Place, bool) {
	at := Place{Type: t}
	for _, token := range tokens {
		t := dereference(at.Type)
		if isOpaque(t) {
			return Place{}, true
		}
		switch t.Kind() {
		case reflect.Struct:
			m, ok := shapeOf(t).byName[token]
			if !ok {
				return Place{}, false
			}
			at = Place{Type: m.typ, Quoted: m.quoted}
		case reflect.Map:
			at = Place{Type: t.Elem()}
		case reflect.Slice, reflect.Array:
			if _, err := strconv.ParseUint(token, 10, 31); token != "-" && err != nil {
				return Place{}, false
			}
			at = Place{Type: t.Elem()}
		default:
			return Place{}, false
		}
	}
	return at, true
}

// PathIn writes a JSON pointer as a path through a type, without anything that
// the type does not say: the keys of a map are "*".
func PathIn(t reflect.Type, pointer string) string {
	var b strings.Builder
	for _, token := range tokensOf(pointer) {
		if t == nil {
			break
		}
		if t = dereference(t); isOpaque(t) {
			break
		}
		switch t.Kind() {
		case reflect.Struct:
			m, ok := shapeOf(t).byName[token]
			if !ok {
				return b.String()
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(m.name)
			t = m.typ
		case reflect.Map:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteByte('*')
			t = t.Elem()
		case reflect.Slice, reflect.Array:
			b.WriteString("[]")
			t = t.Elem()
		default:
			return b.String()
		}
	}
	return b.String()
}

func tokensOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}

// valueAt follows the tokens of a JSON pointer through a value; the zero Value
// where that does not tell.
func valueAt(v reflect.Value, tokens []string) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		if v.Kind() == reflect.Pointer && hasMethods(v.Type().Elem()) {
			break
		}
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer || hasMethods(v.Type()) {
		return reflect.Value{}
	}
	if len(tokens) == 0 {
		return v
	}
	switch v.Kind() {
	case reflect.Struct:
		if m, ok := shapeOf(v.Type()).byName[tokens[0]]; ok {
			if inner, err := v.FieldByIndexErr(m.index); err == nil {
				return valueAt(inner, tokens[1:])
			}
		}
	case reflect.Slice, reflect.Array:
		if i, err := strconv.Atoi(tokens[0]); err == nil && i >= 0 && i < v.Len() {
			return valueAt(v.Index(i), tokens[1:])
		}
	case reflect.Map:
		// A key that is no plain text is looked for by how it is written.
		for iter := v.MapRange(); iter.Next(); {
			if keyText(iter.Key()) == tokens[0] {
				return valueAt(iter.Value(), tokens[1:])
			}
		}
	}
	return reflect.Value{}
}

func keyText(k reflect.Value) string {
	switch {
	case k.Kind() == reflect.String:
		return k.String()
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10)
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10)
	}
	if t, ok := k.Interface().(time.Time); ok {
		text, _ := AppendTime(nil, t)
		return string(text)
	}
	if m, ok := k.Interface().(encoding.TextMarshaler); ok {
		text, _ := m.MarshalText() // where it fails nothing was written
		return string(text)
	}
	return ""
}

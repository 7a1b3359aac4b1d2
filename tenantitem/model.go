package tenantitem

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/internal/codec"
)

// FieldKind is the JSON type that a field is stored as.
type FieldKind uint8

// The kinds of field. KindAny is a field whose JSON type its Go type does not
// say, such as an any or a json.RawMessage.
const (
	KindAny FieldKind = iota
	KindString
	KindNumber
	KindBool
	KindTime
	KindArray
	KindObject
)

// Field is one JSON member of an entity, at any depth.
type Field struct {
	// Path is the way to the member from the top of the document, JSON names
	// joined by dots; an array step ends in "[]", as in "items[].productId".
	Path string
	// Name is the member's own JSON name.
	Name string
	// Kind is its JSON type.
	Kind FieldKind
	// Type is its Go type, pointers removed, and Declared the one that it is declared with.
	Type, Declared reflect.Type
	// Elem is the kind of an array's elements.
	Elem FieldKind
	// Refers is the entity that a Ref (or an array of them) points to, or nil.
	Refers reflect.Type
	// Quoted says that a number or a boolean is stored as text, as the tag
	// option "string" asks for. Kind is KindString then.
	Quoted bool
	// Copy is the denorm declaration on the field, or nil.
	Copy *Copy

	parent *Field
	index  []int
}

// Model is what a struct says about its documents: their JSON fields, their
// references and their declared copies. It is read once per type; see [ModelOf].
type Model struct {
	// Type is the entity's struct type.
	Type reflect.Type
	// Name is the Go type's name, the default entity type.
	Name string
	// Fields are all fields in the order of declaration, parents first.
	Fields []*Field

	byPath map[string]*Field
}

var models sync.Map // reflect.Type -> modelResult: a pure function of the type, kept because reading a struct is slow

type modelResult struct {
	model *Model
	err   error
}

// ModelOf returns the model of T. It fails with an error that unwraps to
// [ErrInvalid] when T is not a struct that embeds its base, when two fields
// claim one JSON name, or when a denorm tag can't be understood, or stands where
// nothing reads it: in a map, in an array of arrays, in a struct that lies in
// itself or writes its own JSON.
func ModelOf[T any, PT Item[T]]() (*Model, error) { return ModelOfType(reflect.TypeFor[T]()) }

// ModelOfType is [ModelOf] for a type that is known only at run time, such as
// the target of a reference.
func ModelOfType(t reflect.Type) (*Model, error) {
	if cached, ok := models.Load(t); ok {
		r := cached.(modelResult)
		return r.model, r.err
	}
	m, err := readModel(t)
	models.Store(t, modelResult{m, err})
	return m, err
}

// Field returns the field at a path as in [Field.Path].
func (m *Model) Field(path string) (*Field, bool) {
	f, ok := m.byPath[path]
	return f, ok
}

// References returns the fields that hold a Ref or an array of them.
func (m *Model) References() []*Field { return m.where(func(f *Field) bool { return f.Refers != nil }) }

// Copies returns the fields that carry a denorm tag.
func (m *Model) Copies() []*Field { return m.where(func(f *Field) bool { return f.Copy != nil }) }

func (m *Model) where(keep func(*Field) bool) []*Field {
	var out []*Field
	for _, f := range m.Fields {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

func readModel(t reflect.Type) (*Model, error) {
	if t.Kind() != reflect.Struct {
		return nil, &InvalidError{What: "entity " + t.String(), Reason: "it is not a struct", Hint: "declare a struct that embeds tenantitem.TenantItem of its own type"}
	}
	if t.Name() == "" {
		return nil, &InvalidError{What: "entity", Reason: "an unnamed struct has no entity type", Hint: "give the struct a name"}
	}
	if err := codec.CheckType(t); err != nil {
		var at *codec.ValueError
		if errors.As(err, &at) {
			return nil, &InvalidError{What: "entity " + t.Name() + ", " + at.Path, Reason: at.Reason, Hint: at.Hint}
		}
		return nil, err
	}
	m := &Model{Type: t, Name: entityName(t), byPath: map[string]*Field{}}
	r := modelReader{model: m, open: map[reflect.Type]bool{}}
	if err := r.readStruct(t, nil, "", nil); err != nil {
		return nil, err
	}
	for _, f := range m.Copies() {
		if kindOf(t) != KindObject {
			reason, hint := unreadBecause(t)
			return nil, &InvalidError{What: "denorm tag on " + m.Name + "." + f.Path, Reason: reason, Hint: hint}
		}
		if err := r.checkCopy(f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// entityName drops type arguments: "Box[...]" would not be a stable name.
func entityName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

type modelReader struct {
	model *Model
	open  map[reflect.Type]bool // structs being read, so that recursive types end
}

func (r *modelReader) readStruct(t reflect.Type, parent *Field, prefix string, index []int) error {
	if r.open[t] {
		return nil
	}
	r.open[t] = true
	defer delete(r.open, t)
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int{}, index...), i)
		name, skip := jsonName(sf)
		if err := r.checkTagPlace(sf, name, skip); err != nil {
			return err
		}
		if skip {
			continue
		}
		if isFlattened(sf, name) {
			if err := r.readStruct(dereference(sf.Type), parent, prefix, at); err != nil {
				return err
			}
			continue
		}
		if !sf.IsExported() {
			continue
		}
		if name == "" {
			name = sf.Name
		}
		if err := r.readField(sf, name, parent, prefix, at); err != nil {
			return err
		}
	}
	return nil
}

func (r *modelReader) readField(sf reflect.StructField, name string, parent *Field, prefix string, index []int) error {
	t := dereference(sf.Type)
	f := &Field{Path: prefix + name, Name: name, Kind: kindOf(t), Type: t, Declared: sf.Type, parent: parent, index: index}
	if _, taken := r.model.byPath[f.Path]; taken {
		return &InvalidError{What: "entity " + r.model.Name, Reason: fmt.Sprintf("two fields are stored as %q", f.Path), Hint: "give one of them another json tag"}
	}
	if tag, ok := sf.Tag.Lookup("denorm"); ok {
		c, err := parseCopy(tag)
		if err != nil {
			return &InvalidError{What: "denorm tag on " + r.model.Name + "." + f.Path, Reason: err.Error(), Hint: `write denorm:"snapshot,ref=FIELD,field=FIELD" or denorm:"sync,ref=FIELD,field=FIELD"`}
		}
		f.Copy = c
	}
	if f.Quoted = isQuoted(sf) && f.Kind != KindAny; f.Quoted {
		f.Kind = KindString
	}
	f.Refers = refTargetOf(t)
	r.model.Fields = append(r.model.Fields, f)
	r.model.byPath[f.Path] = f

	inner, kind, step := t, f.Kind, "."
	if f.Kind == KindArray {
		inner = dereference(t.Elem())
		f.Elem = kindOf(inner)
		f.Refers = refTargetOf(inner)
		kind, step = f.Elem, "[]."
	}
	if kind == KindObject && inner.Kind() == reflect.Struct && !r.open[inner] {
		return r.readStruct(inner, f, f.Path+step, nil)
	}
	return r.checkUnread(f, inner)
}

func jsonName(sf reflect.StructField) (name string, skip bool) {
	tag, ok := sf.Tag.Lookup("json")
	if !ok {
		return "", false
	}
	if tag == "-" {
		return "", true
	}
	name, _, _ = strings.Cut(tag, ",")
	return name, false
}

// isQuoted reports the tag option "string". On anything but a number, a boolean
// or text CheckType has refused it.
func isQuoted(sf reflect.StructField) bool {
	_, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), "string")
}

func dereference(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

var (
	timeType        = reflect.TypeFor[time.Time]()
	numberType      = reflect.TypeFor[json.Number]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	objectMarshaler = reflect.TypeFor[json.Marshaler]()
)

func kindOf(t reflect.Type) FieldKind {
	switch {
	case t == timeType:
		return KindTime
	case t == numberType:
		return KindNumber
	case t.Implements(objectMarshaler) || reflect.PointerTo(t).Implements(objectMarshaler):
		return KindAny
	case t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler):
		return KindString
	}
	switch t.Kind() {
	case reflect.String:
		return KindString
	case reflect.Bool:
		return KindBool
	case reflect.Struct, reflect.Map:
		return KindObject
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return KindString // bytes are stored as base64 text
		}
		return KindArray
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return KindNumber
	default:
		return KindAny
	}
}

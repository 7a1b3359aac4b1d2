package tenantitem

import (
	"fmt"
	"reflect"
	"strings"
)

// CopyMode says what becomes of a copied field when its source changes.
type CopyMode uint8

// The two kinds of copy. There is no default: a copy that was not decided about
// is the bug that this tag is for.
const (
	// Snapshot records what was true when the document was written and never changes.
	Snapshot CopyMode = iota + 1
	// Sync follows its source through the change feed.
	Sync
)

// String returns the word used in the tag.
func (m CopyMode) String() string {
	switch m {
	case Snapshot:
		return "snapshot"
	case Sync:
		return "sync"
	default:
		return fmt.Sprintf("CopyMode(%d)", uint8(m))
	}
}

// Copy is a field's declaration that it repeats a field of another document:
//
//	OwnerName string `json:"ownerName" denorm:"sync,ref=ownerId,field=firstName"`
//
// Both have the same type, but for pointers: a pointer copies a nil one as nil, a plain
// field as its zero value. The tag option "string" stands on both or on neither.
// The field may lie in structs and in arrays of structs, at any depth and behind
// pointers. In the values of a map, in an array of arrays, in a struct that lies in
// itself or writes its own JSON the tag is refused; what an interface holds is not seen.
type Copy struct {
	// Mode is snapshot or sync.
	Mode CopyMode
	// Ref is the JSON name of the sibling field that holds the reference.
	Ref string
	// Source is the JSON name of the field of the referenced document.
	Source string
	// Through is the sibling reference field itself.
	Through *Field
}

func parseCopy(tag string) (*Copy, error) {
	parts := strings.Split(tag, ",")
	c := &Copy{}
	switch parts[0] {
	case "snapshot":
		c.Mode = Snapshot
	case "sync":
		c.Mode = Sync
	default:
		return nil, fmt.Errorf("the first word is %q, not snapshot or sync", parts[0])
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "ref":
			c.Ref = value
		case "field":
			c.Source = value
		default:
			return nil, fmt.Errorf("%q is not an option of the tag", key)
		}
	}
	if c.Ref == "" || c.Source == "" {
		return nil, fmt.Errorf("ref or field is missing")
	}
	return c, nil
}

// checkCopy finds the reference beside a copied field, and the source's field
// behind it, and compares their types.
func (r *modelReader) checkCopy(f *Field) error {
	fail := func(reason, hint string) error {
		return &InvalidError{What: "denorm tag on " + r.model.Name + "." + f.Path, Reason: reason, Hint: hint}
	}
	refPath := f.Path[:len(f.Path)-len(f.Name)] + f.Copy.Ref
	ref, ok := r.model.byPath[refPath]
	if !ok {
		return fail(fmt.Sprintf("there is no field %q in the same struct", f.Copy.Ref), r.model.suggestion(refPath))
	}
	if ref.Refers == nil || ref.Kind != KindString {
		return fail(fmt.Sprintf("field %q is not a tenantitem.Ref", f.Copy.Ref), "declare it as tenantitem.Ref[Source]")
	}
	f.Copy.Through = ref
	if ref.Refers == r.model.Type {
		return r.checkSource(f, r.model, fail)
	}
	// A source may itself hold copies of this type; asking for its whole model
	// would recurse, so only its fields are read.
	source := &Model{Type: ref.Refers, Name: entityName(ref.Refers), byPath: map[string]*Field{}}
	fields := modelReader{model: source, open: map[reflect.Type]bool{}}
	if err := fields.readStruct(ref.Refers, nil, "", nil); err != nil {
		return err
	}
	return r.checkSource(f, source, fail)
}

func (r *modelReader) checkSource(f *Field, source *Model, fail func(reason, hint string) error) error {
	from, ok := source.byPath[f.Copy.Source]
	if !ok {
		return fail(fmt.Sprintf("%s has no field %q", source.Name, f.Copy.Source), source.suggestion(f.Copy.Source))
	}
	if from.Type != f.Type && (from.Kind != f.Kind || from.Elem != f.Elem || f.Type.Kind() == reflect.Array) {
		return fail(fmt.Sprintf("it is a %s and %s.%s is a %s", f.Type, source.Name, from.Path, from.Type), "give both fields the same type")
	}
	if from.Quoted != f.Quoted {
		return fail(fmt.Sprintf("one of it and %s.%s is stored as text", source.Name, from.Path), `give the json tags of both the option "string", or none`)
	}
	return nil
}

package tenantitem

import (
	"fmt"
	"reflect"
)

// A model names fields by paths of objects and of arrays of objects. A denorm
// tag in any other place would be read by nobody, and is refused. What an
// interface holds can't be seen.

// checkTagPlace refuses a denorm tag on a struct's field that is no member of its own.
func (r *modelReader) checkTagPlace(sf reflect.StructField, name string, skip bool) error {
	if _, tagged := sf.Tag.Lookup("denorm"); !tagged {
		return nil
	}
	what := "denorm tag on " + r.model.Name + ", field " + sf.Name
	switch {
	case isFlattened(sf, name) && !skip:
		return &InvalidError{What: what, Reason: "it stands on an embedded struct", Hint: "put it on the struct's fields"}
	case skip || !sf.IsExported():
		return &InvalidError{What: what, Reason: "the field is not stored", Hint: "take the tag away, or store the field"}
	}
	return nil
}

// isFlattened reports whether the members of a field are those of its struct.
func isFlattened(sf reflect.StructField, name string) bool {
	return sf.Anonymous && name == "" && dereference(sf.Type).Kind() == reflect.Struct
}

// checkUnread refuses denorm tags within a type that the model does not read.
func (r *modelReader) checkUnread(f *Field, t reflect.Type) error {
	field, ok := taggedIn(t, map[reflect.Type]bool{})
	if !ok {
		return nil
	}
	reason, hint := unreadBecause(t)
	return &InvalidError{What: fmt.Sprintf("denorm tag on the field %s within %s.%s", field, r.model.Name, f.Path), Reason: reason, Hint: hint}
}

func unreadBecause(t reflect.Type) (reason, hint string) {
	switch kind := kindOf(t); {
	case kind == KindArray:
		return "it lies in an array of arrays", "put the inner one into a struct"
	case kind == KindObject && t.Kind() == reflect.Map:
		return "it lies in the values of a map", "use an array of objects, and make the map's key a member of them"
	case kind == KindObject:
		return fmt.Sprintf("a %s lies in itself, at any depth", t.Name()), "make the inner ones documents of their own, or take the tag away"
	}
	return fmt.Sprintf("a %s writes its own JSON or text", t.Name()), "take the tag away, or the methods"
}

// taggedIn finds a stored field with a denorm tag in a type.
func taggedIn(t reflect.Type, seen map[reflect.Type]bool) (field string, ok bool) {
	if seen[t] {
		return "", false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return taggedIn(t.Elem(), seen)
	case reflect.Struct:
	default:
		return "", false
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, skip := jsonName(sf)
		if skip || !sf.IsExported() && !isFlattened(sf, name) {
			continue
		}
		if _, tagged := sf.Tag.Lookup("denorm"); tagged {
			return sf.Name, true
		}
		if field, ok := taggedIn(sf.Type, seen); ok {
			return field, true
		}
	}
	return "", false
}

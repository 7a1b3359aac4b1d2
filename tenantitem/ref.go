package tenantitem

import "reflect"

// Ref is the id of a document of type T in the same tenant. It is stored as a
// plain JSON string. Nothing in the database checks that the document exists;
// see registry.CheckRefs for that.
//
// Its methods are those of [RefTo]. It is a name for a type over T's pointer,
// because Go compiles code over pointers once for all types, and code over
// structs once for each.
type Ref[T any] = RefTo[*T]

// RefTo is [Ref] over the pointer P of the type that it refers to.
type RefTo[P any] string

// String returns the id.
func (r RefTo[P]) String() string { return string(r) }

// IsZero reports whether the reference points nowhere.
func (r RefTo[P]) IsZero() bool { return r == "" }

func (RefTo[P]) refTarget() reflect.Type {
	t := reflect.TypeFor[P]()
	if t.Kind() != reflect.Pointer {
		return t // RefTo[Person], where Ref[Person] was meant
	}
	return t.Elem()
}

type reference interface{ refTarget() reflect.Type }

// refTargetOf returns the type that a field of type t refers to, or nil.
func refTargetOf(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.String {
		return nil
	}
	if r, ok := reflect.Zero(t).Interface().(reference); ok {
		return r.refTarget()
	}
	return nil
}

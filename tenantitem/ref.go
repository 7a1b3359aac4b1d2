package tenantitem

import "reflect"

// Ref is the id of a document of type T in the same tenant. It is stored as a
// plain JSON string. Nothing in the database checks that the document exists;
// see registry.CheckRefs for that.
type Ref[T any] string

// String returns the id.
func (r Ref[T]) String() string { return string(r) }

// IsZero reports whether the reference points nowhere.
func (r Ref[T]) IsZero() bool { return r == "" }

func (Ref[T]) refTarget() reflect.Type { return reflect.TypeFor[T]() }

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

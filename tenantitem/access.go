package tenantitem

import "reflect"

// Holders calls visit with each struct in the entity that directly holds the
// field: the entity itself, a nested struct, or every element of an array. The
// entity must be the addressed struct (reflect.ValueOf(ptr).Elem()) of the
// model's type. Nil pointers on the way hold nothing and are passed over.
//
// Two fields with the same parent have the same holders, so a copy and its
// reference are read from one.
func (f *Field) Holders(entity reflect.Value, visit func(holder reflect.Value)) {
	if f.parent == nil {
		visit(entity)
		return
	}
	f.parent.Holders(entity, func(outer reflect.Value) {
		v, ok := f.parent.In(outer)
		if !ok {
			return
		}
		if f.parent.Kind != KindArray {
			visit(v)
			return
		}
		for i := range v.Len() {
			if elem, ok := indirect(v.Index(i)); ok {
				visit(elem)
			}
		}
	})
}

// In returns the field's value in a struct that [Field.Holders] gave, settable
// when the entity is, and false when a nil pointer stands in its way.
func (f *Field) In(holder reflect.Value) (reflect.Value, bool) {
	v, err := holder.FieldByIndexErr(f.index)
	if err != nil {
		return reflect.Value{}, false
	}
	return indirect(v)
}

// DeclaredIn is [Field.In] that does not follow the field's own pointers: a nil one
// is a value, and can be set.
func (f *Field) DeclaredIn(holder reflect.Value) (reflect.Value, bool) {
	v, err := holder.FieldByIndexErr(f.index)
	return v, err == nil
}

// SetIn sets the field of a settable struct that [Field.Holders] gave to a value of its
// declared type, and makes embedded structs that are not there.
func (f *Field) SetIn(holder, value reflect.Value) {
	for _, i := range f.index {
		if holder.Kind() == reflect.Pointer {
			if holder.IsNil() {
				if !holder.CanSet() {
					return // of an unexported type, which no decoder sets either
				}
				holder.Set(reflect.New(holder.Type().Elem()))
			}
			holder = holder.Elem()
		}
		holder = holder.Field(i)
	}
	holder.Set(value)
}

// Value returns the field's value in a whole entity. It is for fields outside
// arrays; inside one it returns the first element's.
func (f *Field) Value(entity reflect.Value) (value reflect.Value, ok bool) {
	f.Holders(entity, func(holder reflect.Value) {
		if !ok {
			value, ok = f.In(holder)
		}
	})
	return value, ok
}

// SameHolder reports whether two fields of one model stand side by side.
func (f *Field) SameHolder(other *Field) bool { return f.parent == other.parent }

// Array returns the array that the field lies in, nearest first, or nil.
func (f *Field) Array() *Field {
	for p := f.parent; p != nil; p = p.parent {
		if p.Kind == KindArray {
			return p
		}
	}
	return nil
}

func indirect(v reflect.Value) (reflect.Value, bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	return v, true
}

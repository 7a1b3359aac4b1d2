package codec

import (
	"reflect"
)

func planSlice(t reflect.Type) readFunc {
	elem := later(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		if !r.next('[') {
			return false
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		for n := 0; ; n++ {
			more, ok := r.element(n, ']')
			if !ok || !more {
				return ok
			}
			if n == v.Cap() {
				v.Grow(max(4, n))
			}
			v.SetLen(n + 1)
			if !elem(r, v.Index(n)) {
				return false
			}
		}
	}
}

func readStrings(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	if !r.next('[') {
		return false
	}
	r.strings = r.strings[:0]
	for n := 0; ; n++ {
		more, ok := r.element(n, ']')
		if !ok {
			return false
		}
		if !more {
			out, ok := v.Addr().Interface().(*[]string)
			if ok {
				*out = append(make([]string, 0, n), r.strings...)
				clear(r.strings)
			}
			return ok
		}
		s, ok := "", true
		if !r.null() {
			s, ok = r.text()
		}
		if !ok {
			return false
		}
		r.strings = append(r.strings, s)
	}
}

func planMap(t reflect.Type) readFunc {
	elem := later(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		if !r.next('{') {
			return false
		}
		m := reflect.MakeMap(t)
		v.Set(m)
		for n := 0; ; n++ {
			more, ok := r.element(n, '}')
			if !ok || !more {
				return ok
			}
			name, ok := r.text()
			if !ok || !r.next(':') {
				return false
			}
			value := reflect.New(t.Elem()).Elem()
			if !elem(r, value) {
				return false
			}
			m.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), value)
			if m.Len() != n+1 {
				return false // a name that occurs twice
			}
		}
	}
}

func readStringMap(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	out, ok := v.Addr().Interface().(*map[string]string)
	if !ok || !r.next('{') {
		return false
	}
	m := map[string]string{}
	*out = m
	for n := 0; ; n++ {
		more, ok := r.element(n, '}')
		if !ok || !more {
			return ok
		}
		name, ok := r.text()
		if !ok || !r.next(':') {
			return false
		}
		value := ""
		if !r.null() {
			if value, ok = r.text(); !ok {
				return false
			}
		}
		if m[name] = value; len(m) != n+1 {
			return false
		}
	}
}

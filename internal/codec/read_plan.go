package codec

import (
	"reflect"
	"sync"
)

// A plan reads JSON straight into one Go type, in one pass over the bytes. It
// serves what documents are mostly made of and gives up on everything else:
// what it does not know, does not like, or finds malformed, is read again by
// the library behind [Decode], which then decides and words the error. So a
// plan only ever has to be right where it succeeds.

// readFunc reads one value into v, and reports false to give up.
type readFunc func(r *reader, v reflect.Value) bool

var plans sync.Map // reflect.Type -> readFunc: a pure function of the type

// planOf returns how a type is read.
func planOf(t reflect.Type) readFunc { return cached(&plans, t, makePlan) }

// cached returns what a cache has of a type, and makes it at its first use.
func cached[F any](cache *sync.Map, t reflect.Type, plan func(reflect.Type) F) F {
	if kept, ok := cache.Load(t); ok {
		return kept.(F)
	}
	made := plan(t)
	cache.Store(t, made)
	return made
}

// later looks a plan up at its first use: a type may hold itself.
func later(t reflect.Type) readFunc {
	var once sync.Once
	var plan readFunc
	return func(r *reader, v reflect.Value) bool {
		once.Do(func() { plan = planOf(t) })
		return plan(r, v)
	}
}

func makePlan(t reflect.Type) readFunc {
	switch {
	case t == timeType:
		return readTime
	case t == rawType:
		return readRaw
	case hasMethods(t), t == numberType:
		return readOther
	}
	switch t.Kind() {
	case reflect.String:
		return readString
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return readInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return readUint
	case reflect.Float64:
		return readFloat
	case reflect.Pointer:
		return planPointer(t)
	case reflect.Struct:
		return planStruct(t)
	case reflect.Slice:
		if t == reflect.TypeFor[[]string]() {
			return readStrings
		}
		if t.Elem().Kind() == reflect.Uint8 {
			return readOther
		}
		return planSlice(t)
	case reflect.Map:
		if t == reflect.TypeFor[map[string]string]() {
			return readStringMap
		}
		if t.Key().Kind() == reflect.String && !hasMethods(t.Key()) && t.Key() != numberType {
			return planMap(t)
		}
	}
	return readOther
}

// readOther leaves one value to the library.
func readOther(r *reader, v reflect.Value) bool {
	from := r.pos
	if !r.skip(true) {
		return false
	}
	return Decode(r.data[from:r.pos], v.Addr().Interface()) == nil
}

// readRaw keeps a value as it stands, whatever its text holds.
func readRaw(r *reader, v reflect.Value) bool {
	r.space()
	from := r.pos
	if !r.skip(false) {
		return false
	}
	v.SetBytes(r.data[from:r.pos:r.pos])
	return true
}

func planPointer(t reflect.Type) readFunc {
	elem := later(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		p := reflect.New(t.Elem())
		v.Set(p)
		return elem(r, p.Elem())
	}
}

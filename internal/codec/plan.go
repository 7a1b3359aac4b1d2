package codec

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
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
func planOf(t reflect.Type) readFunc {
	if p, ok := plans.Load(t); ok {
		return p.(readFunc)
	}
	p := makePlan(t)
	plans.Store(t, p)
	return p
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

func readString(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	s, ok := r.text()
	if ok {
		v.SetString(s)
	}
	return ok
}

func readBool(r *reader, v reflect.Value) bool {
	switch {
	case r.null():
		return true
	case r.literal("true"):
		v.SetBool(true)
		return true
	}
	return r.literal("false")
}

func readInt(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	n, negative, ok := r.integer()
	if !ok || n > math.MaxInt64 {
		return false
	}
	i := int64(n)
	if negative {
		i = -i
	}
	if v.OverflowInt(i) {
		return false
	}
	v.SetInt(i)
	return true
}

func readUint(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	n, negative, ok := r.integer()
	if !ok || negative || v.OverflowUint(n) {
		return false
	}
	v.SetUint(n)
	return true
}

func readFloat(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	from := r.pos
	if !r.number() {
		return false
	}
	f, ok := exactFloat(r.data[from:r.pos])
	if !ok {
		var err error
		if f, err = strconv.ParseFloat(string(r.data[from:r.pos]), 64); err != nil {
			return false
		}
	}
	v.SetFloat(f)
	return true
}

// powers are the powers of ten that a double holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// exactFloat reads a number without exponent of up to 15 digits: both the
// digits and the power of ten are exact doubles, so that one division rounds
// as reading the text would.
func exactFloat(b []byte) (float64, bool) {
	if len(b) > 17 {
		return 0, false
	}
	var mantissa uint64
	digits, decimals, point := 0, 0, false
	for i, c := range b {
		switch {
		case c == '-' && i == 0:
		case c == '.':
			point = true
		case c-'0' <= 9:
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
			if point {
				decimals++
			}
		default:
			return 0, false
		}
	}
	if digits > 15 {
		return 0, false
	}
	f := float64(mantissa) / powers[decimals]
	if b[0] == '-' {
		f = -f
	}
	return f, true
}

func readTime(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	from := r.pos
	raw, plain, ok := r.quoted()
	if !ok || !plain {
		return false
	}
	t, ok := v.Addr().Interface().(*time.Time)
	if ok && t.UnmarshalText(raw) == nil {
		return true
	}
	r.pos = from // some other form that the library takes
	return readOther(r, v)
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

// structField is a member of a struct and how it is read.
type structField struct {
	name  string
	start []byte // the name as it usually stands in a document, with its colon; nil where it has escapes
	index []int
	read  readFunc
}

func planStruct(t reflect.Type) readFunc {
	s := shapeOf(t)
	if len(s.members) > 64 {
		return giveUp
	}
	fields := make([]structField, len(s.members))
	byName := make(map[string]int, len(s.members))
	for i, m := range s.members {
		for depth := 1; depth < len(m.index); depth++ {
			if t.FieldByIndex(m.index[:depth]).Type.Kind() == reflect.Pointer {
				return giveUp
			}
		}
		fields[i] = structField{m.name, nil, m.index, later(m.typ)}
		if !strings.ContainsFunc(m.name, func(c rune) bool { return c >= 0x80 || !isPlain[c] }) {
			fields[i].start = []byte(`"` + m.name + `":`)
		}
		if m.quoted {
			fields[i].read = planQuoted(m.typ)
		}
		byName[m.name] = i
	}
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		if !r.next('{') {
			return false
		}
		top := r.depth == 0
		r.depth++
		var seen uint64
		first := len(r.met)
		// Members mostly come in the order of the struct, with some left out.
		for n, likely := 0, 0; ; n++ {
			more, ok := r.element(n, '}')
			if !ok || !more {
				r.depth--
				r.met = r.met[:first]
				return ok
			}
			at := likely
			if likely < len(fields) && fields[likely].start != nil && bytes.HasPrefix(r.data[r.pos:], fields[likely].start) {
				r.pos += len(fields[likely].start)
			} else {
				name, plain, ok := r.quoted()
				if !ok || !plain || !r.next(':') {
					return false
				}
				var known bool
				if at, known = byName[string(name)]; !known {
					if !r.other(name, top, first) {
						return false
					}
					continue
				}
			}
			likely = at + 1
			if seen&(1<<at) != 0 {
				return false
			}
			seen |= 1 << at
			f := &fields[at]
			into := v
			for _, i := range f.index {
				into = into.Field(i)
			}
			if !f.read(r, into) {
				return false
			}
		}
	}
}

func giveUp(*reader, reflect.Value) bool { return false }

// planQuoted reads a number or a boolean that is stored as text.
func planQuoted(t reflect.Type) readFunc {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.String {
		return giveUp
	}
	plan := planOf(t)
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		raw, plain, ok := r.quoted()
		if !ok || !plain || len(raw) == 0 || raw[0] <= ' ' || raw[0] == 'n' {
			return false
		}
		inner := reader{data: raw}
		return plan(&inner, v) && inner.pos == len(raw)
	}
}

package codec

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Writing has plans too (see read_plan.go): a plan appends one Go type as the library
// would, byte for byte, and gives up on all that it does not know or can't
// write. Then the library writes the whole value, or words the error.

// writeFunc appends one value, and reports false to give up.
type writeFunc func(w *writer, v reflect.Value) bool

// writer holds what one value is written to.
type writer struct {
	out   []byte
	depth int
}

var (
	writePlans sync.Map // reflect.Type -> writeFunc: a pure function of the type
	writers    = sync.Pool{New: func() any { return new(writer) }}
)

// Spare is how many bytes an encoded value can grow by in place.
const Spare = 128

// maxKeptWriter bounds the memory that is kept for the next value.
const maxKeptWriter = 64 << 10

// write writes what v, a pointer, points to; false leaves it to the library.
func write(v any) ([]byte, bool) {
	from := reflect.ValueOf(v)
	if from.Kind() != reflect.Pointer || from.IsNil() || from.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	w, _ := writers.Get().(*writer)
	w.out, w.depth = w.out[:0], 0
	defer func() {
		if cap(w.out) <= maxKeptWriter {
			writers.Put(w)
		}
	}()
	if !writePlanOf(from.Type().Elem())(w, from.Elem()) {
		return nil, false
	}
	return append(make([]byte, 0, len(w.out)+Spare), w.out...), true
}

func writePlanOf(t reflect.Type) writeFunc { return cached(&writePlans, t, makeWritePlan) }

// writeLater looks a plan up at its first use: a type may hold itself.
func writeLater(t reflect.Type) writeFunc {
	var once sync.Once
	var plan writeFunc
	return func(w *writer, v reflect.Value) bool {
		once.Do(func() { plan = writePlanOf(t) })
		return plan(w, v)
	}
}

func makeWritePlan(t reflect.Type) writeFunc {
	switch {
	case t == timeType:
		return writeTimeText
	case t.Kind() == reflect.Pointer && t.Elem() == timeType:
		return planWritePointer(t)
	case hasMethods(t), t == numberType:
		return writeOther
	}
	switch t.Kind() {
	case reflect.String:
		return func(w *writer, v reflect.Value) bool { return w.text(v.String()) }
	case reflect.Bool:
		return func(w *writer, v reflect.Value) bool { w.out = strconv.AppendBool(w.out, v.Bool()); return true }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(w *writer, v reflect.Value) bool { w.out = strconv.AppendInt(w.out, v.Int(), 10); return true }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(w *writer, v reflect.Value) bool { w.out = strconv.AppendUint(w.out, v.Uint(), 10); return true }
	case reflect.Float64:
		return writeFloat
	case reflect.Pointer:
		return planWritePointer(t)
	case reflect.Struct:
		return planWriteStruct(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return planWriteSlice(t)
		}
	case reflect.Map:
		if t == reflect.TypeFor[map[string]string]() {
			return writeStringMap
		}
	}
	return writeOther
}

// writeOther leaves one value to the library.
func writeOther(w *writer, v reflect.Value) bool {
	if !v.CanAddr() {
		return false
	}
	text, err := jsonv2.Marshal(v.Addr().Interface(), options)
	w.out = append(w.out, text...)
	return err == nil
}

// text writes a string. Few hold anything that needs an escape.
func (w *writer) text(s string) bool {
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case isPlain[c]:
		case c >= utf8.RuneSelf:
			ascii = false
		default:
			var err error
			w.out, err = jsontext.AppendQuote(w.out, s)
			return err == nil
		}
	}
	if !ascii && !utf8.ValidString(s) {
		return false
	}
	w.out = append(append(append(w.out, '"'), s...), '"')
	return true
}

func writeFloat(w *writer, v reflect.Value) bool {
	f := v.Float()
	if size := math.Abs(f); f != 0 && !(size >= 1e-6 && size < 1e21) || f == 0 && math.Signbit(f) {
		return false // an exponent, or no number
	}
	w.out = strconv.AppendFloat(w.out, f, 'f', -1, 64)
	return true
}

func writeTimeText(w *writer, v reflect.Value) bool {
	if !v.CanAddr() {
		return false
	}
	t, ok := v.Addr().Interface().(*time.Time)
	if !ok {
		return false
	}
	w.out, ok = AppendTime(append(w.out, '"'), *t)
	w.out = append(w.out, '"')
	return ok
}

func planWritePointer(t reflect.Type) writeFunc {
	elem := writeLater(t.Elem())
	return func(w *writer, v reflect.Value) bool {
		if v.IsNil() {
			w.out = append(w.out, "null"...)
			return true
		}
		// A value may lead to itself.
		if w.depth++; w.depth > maxDepth {
			return false
		}
		ok := elem(w, v.Elem())
		w.depth--
		return ok
	}
}

func planWriteSlice(t reflect.Type) writeFunc {
	elem := writeLater(t.Elem())
	return func(w *writer, v reflect.Value) bool {
		if v.IsNil() {
			w.out = append(w.out, "null"...)
			return true
		}
		if w.depth++; w.depth > maxDepth {
			return false
		}
		w.out = append(w.out, '[')
		for i := range v.Len() {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if !elem(w, v.Index(i)) {
				return false
			}
		}
		w.out = append(w.out, ']')
		w.depth--
		return true
	}
}

func writeStringMap(w *writer, v reflect.Value) bool {
	m, ok := v.Interface().(map[string]string)
	if !ok {
		return false
	}
	if m == nil {
		w.out = append(w.out, "null"...)
		return true
	}
	var few [8]string
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	w.out = append(w.out, '{')
	for i, name := range names {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if !w.text(name) {
			return false
		}
		w.out = append(w.out, ':')
		if !w.text(m[name]) {
			return false
		}
	}
	w.out = append(w.out, '}')
	return true
}

// writtenField is a member of a struct and how it is written.
type writtenField struct {
	intro []byte // the name, quoted, and the colon
	index []int
	write writeFunc
	left  func(v reflect.Value) bool // whether it is left out; nil for never
}

func giveUpWriting(*writer, reflect.Value) bool { return false }

func planWriteStruct(t reflect.Type) writeFunc {
	members := slices.Clone(shapeOf(t).members)
	slices.SortStableFunc(members, func(a, b *member) int { return slices.Compare(a.index, b.index) })
	fields := make([]writtenField, len(members))
	for i, m := range members {
		for depth := 1; depth < len(m.index); depth++ {
			if t.FieldByIndex(m.index[:depth]).Type.Kind() == reflect.Pointer {
				return giveUpWriting
			}
		}
		left, ok := leftOut(t.FieldByIndex(m.index))
		quoted, err := jsontext.AppendQuote(nil, m.name)
		if !ok || m.quoted || err != nil {
			return giveUpWriting
		}
		fields[i] = writtenField{append(quoted, ':'), m.index, writeLater(m.typ), left}
	}
	return func(w *writer, v reflect.Value) bool {
		w.out = append(w.out, '{')
		empty := true
		for i := range fields {
			f := &fields[i]
			from := v
			for _, n := range f.index {
				from = from.Field(n)
			}
			if f.left != nil && f.left(from) {
				continue
			}
			if !empty {
				w.out = append(w.out, ',')
			}
			empty = false
			w.out = append(w.out, f.intro...)
			if !f.write(w, from) {
				return false
			}
		}
		w.out = append(w.out, '}')
		return true
	}
}

// leftOut returns the rule by which a field is left out, by the options of its
// tag; it reports false for one that only the library knows.
func leftOut(sf reflect.StructField) (rule func(reflect.Value) bool, ok bool) {
	_, rest, _ := strings.Cut(sf.Tag.Get("json"), ",")
	for option := range strings.SplitSeq(rest, ",") {
		switch option {
		case "", "string":
		case "omitempty":
			if rule != nil {
				return nil, false
			}
			rule = isEmpty
		case "omitzero":
			_, own := reflect.PointerTo(sf.Type).MethodByName("IsZero")
			if rule != nil || own {
				return nil, false
			}
			rule = reflect.Value.IsZero
		default:
			return nil, false
		}
	}
	return rule, true
}

// isEmpty is encoding/json's rule for omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Interface, reflect.Pointer:
		return v.IsZero()
	}
	return false
}

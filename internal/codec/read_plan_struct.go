package codec

import (
	"bytes"
	"reflect"
	"strings"
)

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

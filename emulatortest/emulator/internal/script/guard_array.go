package script

import (
	"strconv"

	"github.com/dop251/goja"
)

// guardArrays bounds the built-ins that walk an array: each takes a bounded time, so that an interruption comes through.
func (s *session) guardArrays() {
	proto := s.prototype("Array")
	for _, name := range []string{
		"at", "copyWithin", "entries", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "forEach",
		"keys", "map", "pop", "push", "reduce", "reduceRight", "reverse", "shift", "slice",
		"some", "splice", "unshift", "with", "toReversed", "toSpliced", "values",
	} {
		s.guard(proto, name, func(c goja.FunctionCall) { s.elements(c.This) })
	}
	for _, name := range []string{"includes", "indexOf", "lastIndexOf"} { // which compare each element with a text of any length
		s.guard(proto, name, func(c goja.FunctionCall) { s.work(s.elements(c.This), s.textOf(c.Argument(0))) })
	}
	s.replaceSort(proto)
	s.guard(proto, "concat", func(c goja.FunctionCall) {
		n := s.elements(c.This)
		for _, a := range c.Arguments {
			if o, ok := a.(*goja.Object); ok {
				n += s.elements(o)
			}
		}
		if n > maxElements {
			s.throw("RangeError", "The array is too long: a script's array may have %d elements.", maxElements)
		}
	})
	s.guard(proto, "toString", func(goja.FunctionCall) {}) // it calls join
	s.replaceJoin(proto)
	for _, name := range []string{"flat", "flatMap"} {
		s.guard(proto, name, func(c goja.FunctionCall) { s.flattened(c.This, 0, new(int)) })
	}
	s.must(proto.SetSymbol(goja.SymIterator, proto.Get("values")))
	s.guard(s.object("Array"), "from", func(c goja.FunctionCall) { s.elements(c.Argument(0)) })
	s.guardIterators()
}

// guardIterators lets an interruption through where a built-in walks to the end of an iterator.
func (s *session) guardIterators() {
	for _, sample := range []string{"[].values()", "''[Symbol.iterator]()", "new Map().values()", "new Set().values()"} {
		v, err := s.rt.RunString("(" + sample + ").__proto__")
		s.must(err)
		s.guard(v.ToObject(s.rt), "next", func(goja.FunctionCall) {})
	}
}

// replaceSort lets an interruption through between the comparisons of a sort without a comparison of its own: there are
// millions of them, each of two texts of any length.
func (s *session) replaceSort(proto *goja.Object) {
	byText := s.rt.ToValue(func(c goja.FunctionCall) goja.Value {
		s.check()
		return s.rt.ToValue(s.toString(c.Argument(0)).CompareTo(s.toString(c.Argument(1))))
	})
	for _, name := range []string{"sort", "toSorted"} {
		original, ok := goja.AssertFunction(proto.Get(name))
		if !ok {
			continue
		}
		s.define(proto, name, func(c goja.FunctionCall) goja.Value {
			s.check()
			s.elements(c.This)
			compare := c.Argument(0)
			if goja.IsUndefined(compare) {
				compare = byText
			}
			return s.nested(func() goja.Value { return s.call(original, c.This, compare) })
		})
	}
}

// replaceJoin gives arrays a join and a toLocaleString that look at the length of the text while it grows: the elements'
// own toString decides how long it becomes.
func (s *session) replaceJoin(proto *goja.Object) {
	s.define(proto, "join", func(c goja.FunctionCall) goja.Value {
		separator := s.rt.ToValue(",")
		if v := c.Argument(0); !goja.IsUndefined(v) {
			separator = v
		}
		return s.join(c.This, s.toString(separator), s.toString)
	})
	s.define(proto, "toLocaleString", func(c goja.FunctionCall) goja.Value {
		return s.join(c.This, s.toString(s.rt.ToValue(",")), func(v goja.Value) goja.String {
			f, ok := goja.AssertFunction(v.ToObject(s.rt).Get("toLocaleString"))
			if !ok {
				s.throw("TypeError", "toLocaleString is not a function")
			}
			return s.toString(s.call(f, v))
		})
	})
}

func (s *session) join(this goja.Value, separator goja.String, toString func(goja.Value) goja.String) goja.Value {
	o := this.ToObject(s.rt)
	if s.joining[o] {
		return s.rt.ToValue("")
	}
	s.joining[o] = true
	defer delete(s.joining, o)
	return s.nested(func() goja.Value {
		var b goja.StringBuilder
		units := 0
		write := func(text goja.String) {
			units += text.Length()
			s.space(float64(units))
			b.WriteString(text)
		}
		for i := range s.elements(o) {
			s.check()
			if i > 0 {
				write(separator)
			}
			if v := o.Get(strconv.Itoa(i)); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
				write(toString(v))
			}
		}
		return b.String()
	})
}

// flattened bounds the array that nested arrays make together.
func (s *session) flattened(v goja.Value, depth int, total *int) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return
	}
	n := s.elements(o)
	if *total += n; *total > maxElements || depth > maxDepth {
		s.throw("RangeError", "The array is too long or too deep: a script's array may have %d elements in %d levels.", maxElements, maxDepth)
	}
	for i := range n {
		s.flattened(o.Get(s.rt.ToValue(i).String()), depth+1, total)
	}
}

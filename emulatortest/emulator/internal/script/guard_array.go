package script

import "github.com/dop251/goja"

// guardArrays bounds the built-ins that walk an array: each takes a bounded time, so that an interruption comes through.
func (s *session) guardArrays() {
	proto := s.prototype("Array")
	for _, name := range []string{
		"at", "copyWithin", "entries", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "forEach",
		"includes", "indexOf", "keys", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight", "reverse", "shift", "slice",
		"some", "sort", "splice", "unshift", "with", "toReversed", "toSorted", "toSpliced", "values",
	} {
		s.guard(proto, name, func(c goja.FunctionCall) { s.elements(c.This) })
	}
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
	for _, name := range []string{"join", "toString", "toLocaleString"} {
		s.guard(proto, name, func(c goja.FunctionCall) { s.joined(c) })
	}
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

// joined bounds the text that the elements of an array make together.
func (s *session) joined(c goja.FunctionCall) {
	o, ok := c.This.(*goja.Object)
	if !ok {
		return
	}
	n := s.elements(o)
	separator := 1
	if text, ok := c.Argument(0).(goja.String); ok {
		separator = s.text(text)
	}
	units := float64(n) * float64(separator)
	s.space(units)
	for i := range n {
		if text, ok := o.Get(s.rt.ToValue(i).String()).(goja.String); ok {
			units += float64(text.Length())
			s.space(units)
		}
	}
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

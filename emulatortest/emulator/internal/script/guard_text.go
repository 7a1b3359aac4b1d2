package script

import "github.com/dop251/goja"

// maxSplit is how long a string may be that is taken apart into characters: each takes many times its own size.
const maxSplit = 1 << 20

// guardTexts bounds the built-ins that make long strings, or arrays of strings.
func (s *session) guardTexts() {
	proto := s.prototype("String")
	s.guard(proto, "repeat", func(c goja.FunctionCall) {
		s.space(float64(s.textOf(c.This)) * c.Argument(0).ToFloat())
	})
	for _, name := range []string{"padStart", "padEnd"} {
		s.guard(proto, name, func(c goja.FunctionCall) { s.space(c.Argument(0).ToFloat()) })
	}
	s.replaceConcat(proto)
	for name, growth := range map[string]float64{
		"normalize": 18, "localeCompare": 18, "toLowerCase": 3, "toUpperCase": 3, "toLocaleLowerCase": 3, "toLocaleUpperCase": 3,
	} {
		s.guard(proto, name, func(c goja.FunctionCall) {
			s.grown(c.This, growth, 1)
			s.grown(c.Argument(0), growth, 1)
		})
	}
	for _, name := range []string{"indexOf", "lastIndexOf", "includes"} {
		s.guard(proto, name, func(c goja.FunctionCall) {
			s.work(s.textOf(c.This), s.textOf(c.Argument(0)))
		})
	}
	iterator := proto.GetSymbol(goja.SymIterator)
	original, _ := goja.AssertFunction(iterator)
	s.must(proto.DefineDataPropertySymbol(goja.SymIterator, s.rt.ToValue(func(c goja.FunctionCall) goja.Value {
		s.splittable(c.This)
		return s.call(original, c.This)
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	for _, name := range []string{"escape", "unescape", "encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent"} {
		s.guard(s.rt.GlobalObject(), name, func(c goja.FunctionCall) { s.grown(c.Argument(0), 9, 3) })
	}
}

// grown bounds what a built-in makes of a text: some times its length, and fewer times where all of it is ASCII.
func (s *session) grown(v goja.Value, most, ofASCII float64) {
	n := s.textOf(v)
	s.space(float64(n) * ofASCII)
	if text, ok := v.(goja.String); !ok || !isASCII(text) {
		s.space(float64(n) * most)
	}
}

func isASCII(text goja.String) bool {
	for i := range text.Length() {
		if text.CharAt(i) >= 0x80 {
			return false
		}
	}
	return true
}

// replaceConcat gives strings a concat that looks at the length of the text while it grows: its arguments' own toString
// decides how long it becomes.
func (s *session) replaceConcat(proto *goja.Object) {
	s.define(proto, "concat", func(c goja.FunctionCall) goja.Value {
		if goja.IsUndefined(c.This) || goja.IsNull(c.This) {
			s.throw("TypeError", "String.prototype.concat called on null or undefined")
		}
		return s.nested(func() goja.Value {
			var b goja.StringBuilder
			units := 0
			for _, v := range append([]goja.Value{c.This}, c.Arguments...) {
				s.check()
				text := s.toString(v)
				units += text.Length()
				s.space(float64(units))
				b.WriteString(text)
			}
			return b.String()
		})
	})
}

// textOf is the length of a string, bounded; an object's string is made by its own methods, which are bounded themselves.
func (s *session) textOf(v goja.Value) int {
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "String" {
		v = o.Get("length")
		return int(v.ToInteger())
	}
	return s.text(v)
}

// splittable bounds a string that will be taken apart.
func (s *session) splittable(v goja.Value) {
	if s.textOf(v) > maxSplit {
		s.throw("RangeError", "The string is too long to be taken apart: at most %d characters.", maxSplit)
	}
}

// work bounds what takes the product of two lengths.
func (s *session) work(a, b int) {
	const most = 200_000_000 // about a second
	if b > 0 && a > most/b {
		s.throw("RangeError", "The search takes too long for strings of this length.")
	}
}

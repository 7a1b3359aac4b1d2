package script

import (
	"math"

	"github.com/dop251/goja"
)

// harden takes out of a new runtime what can't be bounded, and puts bounds around what a built-in can do in one call:
// the runtime looks for an interruption between the script's own instructions only.
func (s *session) harden() {
	s.remove()
	s.guardArrays()
	s.guardTexts()
	s.guardPatterns()
	s.guardFunctions()
	s.guardObjects()
	s.replaceJSON()
}

// remove deletes what has no place in a script, or can't be bounded: code made of text, memory in one piece, objects that
// answer every question anew, integers of any size, and goja's own additions.
func (s *session) remove() {
	global := s.rt.GlobalObject()
	for _, name := range []string{
		"eval", "Proxy", "BigInt", "GoError", "ArrayBuffer", "DataView", "Uint8Array", "Uint8ClampedArray", "Int8Array",
		"Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	} {
		s.must(global.Delete(name))
	}
	s.must(s.object("String").Delete("raw"))
	// Functions can be made of text through the constructor of any function, generators and async functions included.
	for _, sample := range []string{"(function(){})", "(function*(){})", "(async function(){})"} {
		v, err := s.rt.RunString(sample + ".constructor")
		if err != nil {
			continue // goja has no such functions
		}
		maker, ok := v.(*goja.Object)
		if !ok {
			continue
		}
		if proto, ok := maker.Get("prototype").(*goja.Object); ok {
			s.define(proto, "constructor", func(goja.FunctionCall) goja.Value {
				s.throw("TypeError", "Functions can't be made of text in a script.")
				return nil
			})
		}
	}
	s.must(global.Set("Function", s.object("Function").Get("prototype").(*goja.Object).Get("constructor"))) //nolint:forcetypeassert // every runtime has it
	function, _ := global.Get("Function").(*goja.Object)
	v, err := s.rt.RunString("(function(){}).__proto__")
	s.must(err)
	s.must(function.Set("prototype", v))
}

// must panics on what can't fail while a runtime is made.
func (s *session) must(err error) {
	if err != nil {
		panic(err) //nolint:forbidigo // a new runtime has all that harden asks for
	}
}

// object is a global object of the runtime.
func (s *session) object(name string) *goja.Object { return s.rt.Get(name).ToObject(s.rt) }

// prototype is that of a global constructor.
func (s *session) prototype(name string) *goja.Object {
	return s.object(name).Get("prototype").ToObject(s.rt)
}

// define puts a built-in into an object.
func (s *session) define(o *goja.Object, name string, f func(goja.FunctionCall) goja.Value) {
	s.must(o.DefineDataProperty(name, s.rt.ToValue(f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// guard puts a check before a built-in. The check throws; nested calls of guarded built-ins are bounded in any case.
func (s *session) guard(o *goja.Object, name string, before func(goja.FunctionCall)) {
	original, ok := goja.AssertFunction(o.Get(name))
	if !ok {
		return
	}
	s.define(o, name, func(call goja.FunctionCall) goja.Value {
		s.check()
		before(call)
		return s.nested(func() goja.Value { return s.call(original, call.This, call.Arguments...) })
	})
}

// guardSymbol is guard for a built-in that is found by a symbol.
func (s *session) guardSymbol(o *goja.Object, symbol *goja.Symbol, before func(goja.FunctionCall)) {
	original, ok := goja.AssertFunction(o.GetSymbol(symbol))
	if !ok {
		return
	}
	s.must(o.DefineDataPropertySymbol(symbol, s.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		s.check()
		before(call)
		return s.nested(func() goja.Value { return s.call(original, call.This, call.Arguments...) })
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// nested counts the built-ins that call each other, whose nesting the runtime does not see.
func (s *session) nested(f func() goja.Value) goja.Value {
	if s.depth >= maxDepth {
		s.throw("RangeError", "Out of stack space")
	}
	s.depth++
	defer func() { s.depth-- }()
	return f()
}

// elements bounds an array or an object that is used as one. Its length has to be a plain property, or the built-in that
// is called next could find another one.
func (s *session) elements(v goja.Value) int {
	o, ok := v.(*goja.Object)
	if !ok {
		if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
			return 0
		}
		s.splittable(v)
		return s.text(v)
	}
	if o.ClassName() != "Array" && o.ClassName() != "String" {
		s.plainLength(o)
	}
	length := o.Get("length")
	if length == nil {
		return 0
	}
	n := length.ToFloat()
	if n > maxElements {
		s.throw("RangeError", "The array is too long: a script's array may have %d elements.", maxElements)
	}
	if math.IsNaN(n) || n < 0 {
		return 0
	}
	return int(n)
}

// plainLength refuses a length that is computed.
func (s *session) plainLength(o *goja.Object) {
	describe, _ := goja.AssertFunction(s.object("Reflect").Get("getOwnPropertyDescriptor"))
	for at := o; at != nil; at = at.Prototype() {
		d, ok := s.call(describe, goja.Undefined(), at, s.rt.ToValue("length")).(*goja.Object)
		if !ok {
			continue
		}
		if get := d.Get("get"); get != nil && !goja.IsUndefined(get) {
			s.throw("TypeError", "An object whose length is computed can't be used as an array in a script.")
		}
		return
	}
}

// text bounds a string, or what will be made one, and gives its length in UTF-16 units.
func (s *session) text(v goja.Value) int {
	text, ok := v.(goja.String)
	if !ok {
		return 0
	}
	if text.Length() > maxText {
		s.throw("RangeError", "The string is too long: a built-in takes %d characters.", maxText)
	}
	return text.Length()
}

// space bounds what a built-in is about to make.
func (s *session) space(units float64) {
	if units > maxText {
		s.throw("RangeError", "The result is too long: a built-in makes %d characters.", maxText)
	}
}

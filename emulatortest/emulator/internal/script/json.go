package script

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// maxJSON is how many bytes of JSON a script may make or read in one call.
const maxJSON = 8 << 20

// maxContainers is how many arrays and objects one JSON text may have: an empty one takes some 600 bytes.
const maxContainers = 1 << 18

// replaceJSON gives JSON.stringify and JSON.parse bounds of their own: shared parts let a small value have a text of any
// size, and both call themselves for every level.
func (s *session) replaceJSON() {
	o := s.object("JSON")
	s.define(o, "stringify", func(c goja.FunctionCall) goja.Value {
		e := encoder{s: s}
		e.replace(c.Argument(1))
		e.indentBy(c.Argument(2))
		holder := s.rt.NewObject()
		s.must(holder.Set("", c.Argument(0)))
		if !e.value(holder, "", c.Argument(0), 0) {
			return goja.Undefined()
		}
		return s.rt.ToValue(string(e.out))
	})
	s.guard(o, "parse", func(c goja.FunctionCall) {
		text := c.Argument(0).String()
		if len(text) > maxJSON {
			s.throw("SyntaxError", "The JSON is too long: at most %d bytes.", maxJSON)
		}
		if depth, containers := jsonShape(text); depth > maxDepth || containers > maxContainers {
			s.throw("SyntaxError", "The JSON is too deep or has too many parts: at most %d levels, and %d arrays and objects.", maxDepth, maxContainers)
		}
	})
}

// jsonShape is how deep the brackets of a JSON text nest, and how many there are.
func jsonShape(text string) (deepest, containers int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			containers++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest, containers
}

// encode writes a value as JSON. It reports false for what JSON has no form for: undefined and functions. Exceptions of
// the script's toJSON go on as such.
func (s *session) encode(v goja.Value) (string, bool) {
	e := encoder{s: s}
	if !e.value(nil, "", v, 0) {
		return "", false
	}
	return string(e.out), true
}

// decode parses JSON that the store gave out.
func (s *session) decode(text string) goja.Value {
	parse, _ := goja.AssertFunction(s.object("JSON").Get("parse"))
	return s.call(parse, goja.Undefined(), s.rt.ToValue(text))
}

// encoder is JSON.stringify.
type encoder struct {
	s        *session
	out      []byte
	replacer goja.Callable
	only     map[string]bool // the names that a list of names lets through; nil for all
	indent   string
}

func (e *encoder) replace(v goja.Value) {
	if f, ok := goja.AssertFunction(v); ok {
		e.replacer = f
		return
	}
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return
	}
	e.only = map[string]bool{}
	for i := range e.s.elements(o) {
		e.only[o.Get(strconv.Itoa(i)).String()] = true
	}
}

func (e *encoder) indentBy(v goja.Value) {
	const most = 10
	if text, ok := v.(goja.String); ok {
		indent := []rune(text.String())
		e.indent = string(indent[:min(len(indent), most)])
		return
	}
	e.indent = strings.Repeat(" ", int(min(max(v.ToInteger(), 0), most)))
}

// value writes one value and reports whether there was anything to write.
func (e *encoder) value(holder *goja.Object, name string, v goja.Value, depth int) bool {
	e.s.check()
	if depth > maxDepth {
		e.s.throw("TypeError", "The value can't be written as JSON: it is circular or nests deeper than %d levels.", maxDepth)
	}
	if len(e.out) > maxJSON {
		e.s.throw("RangeError", "The value can't be written as JSON: its text is longer than %d bytes.", maxJSON)
	}
	if o, ok := v.(*goja.Object); ok {
		if f, ok := goja.AssertFunction(o.Get("toJSON")); ok {
			v = e.s.call(f, v, e.s.rt.ToValue(name))
		}
	}
	if e.replacer != nil {
		v = e.s.call(e.replacer, holder, e.s.rt.ToValue(name), v)
	}
	if o, ok := v.(*goja.Object); ok {
		return e.object(o, depth)
	}
	return e.scalar(v)
}

func (e *encoder) scalar(v goja.Value) bool {
	switch x := exported(v).(type) {
	case bool:
		e.out = append(e.out, strconv.FormatBool(x)...)
	case string:
		e.quote(x)
	case int64:
		e.out = append(e.out, strconv.FormatInt(x, 10)...)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			e.out = append(e.out, "null"...)
		} else {
			e.out = append(e.out, v.String()...)
		}
	default:
		if v == nil || !goja.IsNull(v) {
			return false
		}
		e.out = append(e.out, "null"...)
	}
	return true
}

func (e *encoder) object(o *goja.Object, depth int) bool {
	if _, isFunction := goja.AssertFunction(o); isFunction {
		return false
	}
	switch o.ClassName() {
	case "Number":
		return e.scalar(e.s.rt.ToValue(o.ToFloat()))
	case "String":
		return e.scalar(e.s.rt.ToValue(o.String()))
	case "Boolean":
		return e.scalar(e.s.rt.ToValue(o.Export()))
	case "Array":
		e.array(o, depth)
	default:
		e.members(o, depth)
	}
	return true
}

func (e *encoder) array(o *goja.Object, depth int) {
	n := e.s.elements(o)
	e.out = append(e.out, '[')
	for i := range n {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.line(depth + 1)
		name := strconv.Itoa(i)
		if !e.value(o, name, o.Get(name), depth+1) {
			e.out = append(e.out, "null"...)
		}
	}
	if n > 0 {
		e.line(depth)
	}
	e.out = append(e.out, ']')
}

func (e *encoder) members(o *goja.Object, depth int) {
	e.out = append(e.out, '{')
	first := true
	for _, name := range o.Keys() {
		if e.only != nil && !e.only[name] {
			continue
		}
		start := len(e.out)
		if !first {
			e.out = append(e.out, ',')
		}
		e.line(depth + 1)
		e.quote(name)
		e.out = append(e.out, ':')
		if e.indent != "" {
			e.out = append(e.out, ' ')
		}
		if !e.value(o, name, o.Get(name), depth+1) {
			e.out = e.out[:start]
			continue
		}
		first = false
	}
	if !first {
		e.line(depth)
	}
	e.out = append(e.out, '}')
}

func (e *encoder) line(depth int) {
	if e.indent == "" {
		return
	}
	e.out = append(e.out, '\n')
	for range depth {
		e.out = append(e.out, e.indent...)
	}
}

func (e *encoder) quote(text string) {
	e.out = append(e.out, '"')
	for _, c := range text {
		switch c {
		case '"', '\\':
			e.out = append(e.out, '\\', byte(c))
		case '\b':
			e.out = append(e.out, `\b`...)
		case '\f':
			e.out = append(e.out, `\f`...)
		case '\n':
			e.out = append(e.out, `\n`...)
		case '\r':
			e.out = append(e.out, `\r`...)
		case '\t':
			e.out = append(e.out, `\t`...)
		default:
			if c < ' ' {
				e.out = append(e.out, `\u00`+string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])...)
			} else {
				e.out = utf8.AppendRune(e.out, c)
			}
		}
	}
	e.out = append(e.out, '"')
}

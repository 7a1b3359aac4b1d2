package script

import (
	"regexp/syntax"
	"strings"

	"github.com/dop251/goja"
)

// Bounds of one match: it takes the product of the two at most, some seconds.
const (
	maxSubject = 256 << 10 // UTF-16 units of the text
	maxProgram = 1000      // instructions of the compiled pattern
)

// guardPatterns bounds regular expressions. They run in linear time, since those that need backtracking are refused; what
// is left to bound is the size of the pattern and of the text.
func (s *session) guardPatterns() {
	proto := s.prototype("RegExp")
	s.must(proto.Delete("compile"))
	// A prototype with another exec makes every method of strings go through it, match by match.
	for _, name := range []string{"exec", "test"} {
		s.guard(proto, name, func(c goja.FunctionCall) { s.matchable(c.This, c.Argument(0)) })
	}
	s.guardConstructor(proto)
	text := s.prototype("String")
	for _, name := range []string{"match", "matchAll", "search"} {
		s.guard(text, name, func(c goja.FunctionCall) {
			s.subject(c.This)
			if _, isObject := c.Argument(0).(*goja.Object); !isObject && !goja.IsUndefined(c.Argument(0)) {
				s.pattern(c.Argument(0).String(), "")
			}
		})
	}
	s.guard(text, "replace", func(c goja.FunctionCall) { s.replacement(c, false) })
	s.guard(text, "replaceAll", func(c goja.FunctionCall) { s.replacement(c, true) })
	s.guardPatternMethods(proto)
	s.guard(text, "split", func(c goja.FunctionCall) { s.splittable(c.This) })
}

// guardPatternMethods bounds the methods behind those of strings, which a script can call by their symbols, and the text of a
// pattern or an error, which are made of any object's properties.
func (s *session) guardPatternMethods(proto *goja.Object) {
	for _, symbol := range []*goja.Symbol{goja.SymMatch, goja.SymMatchAll, goja.SymSearch, goja.SymSplit} {
		s.guardSymbol(proto, symbol, func(c goja.FunctionCall) { s.subject(c.Argument(0)) })
	}
	s.guardSymbol(proto, goja.SymReplace, func(c goja.FunctionCall) {
		inner := goja.FunctionCall{This: c.Argument(0), Arguments: []goja.Value{c.This}}
		if len(c.Arguments) > 1 {
			inner.Arguments = append(inner.Arguments, c.Arguments[1])
		}
		s.replacement(inner, true)
		if len(c.Arguments) > 1 {
			c.Arguments[1] = inner.Arguments[1]
		}
	})
	for of, parts := range map[string][]string{"RegExp": {"source", "flags"}, "Error": {"name", "message"}} {
		s.guard(s.prototype(of), "toString", func(c goja.FunctionCall) {
			object, ok := c.This.(*goja.Object)
			if !ok {
				return
			}
			units := 0
			for _, part := range parts {
				if v := object.Get(part); v != nil {
					units += s.textOf(v)
				}
			}
			s.space(float64(units))
		})
	}
}

// replacement bounds the text that a replacement can make: a text with its references to the match and to what is around
// it, or the results of a function. A text is replaced once, unless it is all of them; a pattern at every place.
func (s *session) replacement(c goja.FunctionCall, all bool) {
	n := s.textOf(c.This)
	matches := float64(n + 1)
	if _, isObject := c.Argument(0).(*goja.Object); isObject {
		s.subject(c.This)
	} else {
		s.work(n, s.textOf(c.Argument(0)))
		if !all {
			matches = 1
		}
	}
	if len(c.Arguments) < 2 {
		return
	}
	if f, ok := goja.AssertFunction(c.Arguments[1]); ok {
		units := n
		c.Arguments[1] = s.rt.ToValue(func(c goja.FunctionCall) goja.Value {
			text := s.toString(s.call(f, c.This, c.Arguments...))
			units += text.Length()
			s.space(float64(units))
			return text
		})
		return
	}
	by := s.toString(c.Arguments[1])
	c.Arguments[1] = by
	s.space(float64(n) + matches*float64(by.Length()+1))
	text := by.String()
	around := strings.Count(text, "$`") + strings.Count(text, "$'") // each is as long as the text, at every match
	s.space(float64(strings.Count(text, "$"))*float64(n) + float64(around)*float64(n)*matches)
}

// guardConstructor checks patterns that are made while the script runs.
func (s *session) guardConstructor(proto *goja.Object) {
	original := s.rt.Get("RegExp")
	maker := s.rt.ToValue(func(c goja.ConstructorCall) *goja.Object {
		pattern, flags := c.Argument(0), ""
		if f := c.Argument(1); !goja.IsUndefined(f) {
			flags = f.String()
		}
		if _, isObject := pattern.(*goja.Object); !isObject && !goja.IsUndefined(pattern) {
			s.pattern(pattern.String(), flags)
		}
		made, err := s.rt.New(original, c.Arguments...)
		if err != nil {
			s.raise(err)
		}
		return made
	}).ToObject(s.rt)
	s.must(maker.Set("prototype", proto))
	s.must(proto.DefineDataProperty("constructor", maker, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	s.must(s.rt.Set("RegExp", maker))
}

func (s *session) pattern(pattern, flags string) {
	if err := checkPattern(pattern, flags); err != nil {
		s.throw("SyntaxError", "%v", err)
	}
	if n := programSize(pattern); n > maxProgram {
		s.throw("SyntaxError", "The regular expression is too large: %d instructions, at most %d.", n, maxProgram)
	}
}

func (s *session) subject(v goja.Value) {
	if s.textOf(v) > maxSubject {
		s.throw("RangeError", "The string is too long for a regular expression: at most %d characters.", maxSubject)
	}
}

func (s *session) matchable(_, subject goja.Value) { s.subject(subject) }

// programSize is how many instructions a pattern has; zero when it is no pattern.
func programSize(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

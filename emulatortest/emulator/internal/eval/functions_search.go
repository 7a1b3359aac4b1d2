package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// searchFunctions look for strings in strings.
func searchFunctions() []builtin {
	test := func(name string, f func(s, part string) bool) builtin {
		return fn(name, 2, 3, pure(func(args []value.Value) value.Value { return searched(args, f) }))
	}
	fold := value.FromBool(true)
	exact := value.FromBool(false)
	containsEach := func(name string, join func([]value.Value, func(value.Value) value.Value) value.Value, ignoreCase value.Value) builtin {
		return fn(name, 2, unlimited, func(r *run, args []value.Value) value.Value {
			return join(args[1:], func(part value.Value) value.Value {
				mark := r.meter.Mark()
				defer r.meter.Drop(mark)
				if !debitOf(name).take(r, []value.Value{args[0], part}) {
					return value.Value{}
				}
				return searched([]value.Value{args[0], part, ignoreCase}, strings.Contains)
			})
		})
	}
	return []builtin{
		test("CONTAINS", strings.Contains),
		containsEach("CONTAINS_ALL_CI", all, fold),
		containsEach("CONTAINS_ALL_CS", all, exact),
		containsEach("CONTAINS_ANY_CI", anyOf, fold),
		containsEach("CONTAINS_ANY_CS", anyOf, exact),
		test("ENDSWITH", strings.HasSuffix),
		fn("INDEX_OF", 2, 3, pure(indexOf)),
		fn("LASTINDEXOF", 2, 3, pure(lastIndexOf)),
		fn("REGEXMATCH", 2, 3, regexMatch),
		test("STARTSWITH", strings.HasPrefix),
		test("STRINGEQUALS", func(a, b string) bool { return a == b }),
	}
}

// searched applies a test to two strings; a third, Boolean, argument asks for case to be ignored.
func searched(args []value.Value, f func(s, part string) bool) value.Value {
	s, ok := args[0].Str()
	part, okPart := args[1].Str()
	if !ok || !okPart {
		return value.Value{}
	}
	if len(args) == 3 {
		ignoreCase, isBool := args[2].Bool()
		if !isBool {
			return value.Value{}
		}
		if ignoreCase {
			s, part = foldCase(s), foldCase(part)
		}
	}
	return value.FromBool(f(s, part))
}

// foldCase maps characters that differ only in case to one of them, whatever the language.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
}

// unitsBefore turns a byte offset in s into a position; a negative offset stays as it is.
func unitsBefore(s string, offset int) value.Value {
	if offset < 0 {
		return value.FromNumber(-1)
	}
	return value.FromNumber(float64(unitCount(s[:offset])))
}

func indexOf(args []value.Value) value.Value {
	both, ok := texts(args[:2])
	if !ok {
		return value.Value{}
	}
	from := 0
	if len(args) == 3 {
		start, isWhole := position(args[2])
		if !isWhole || start < 0 {
			return value.Value{}
		}
		var inside bool
		if from, inside = unitOffset(both[0], start); inside { // nothing begins in the middle of a character
			_, size := utf8.DecodeRuneInString(both[0][from:])
			from += size
		}
	}
	at := strings.Index(both[0][from:], both[1])
	if at >= 0 {
		at += from
	}
	return unitsBefore(both[0], at)
}

// lastIndexOf with a start looks only at the units up to and including that position: the match must end there or before.
func lastIndexOf(args []value.Value) value.Value {
	both, ok := texts(args[:2])
	if !ok {
		return value.Value{}
	}
	within := both[0]
	if len(args) == 3 {
		start, isWhole := position(args[2])
		if !isWhole || start < 0 {
			return value.Value{}
		}
		end, _ := unitOffset(within, start+1)
		within = within[:end]
	}
	return unitsBefore(both[0], strings.LastIndex(within, both[1]))
}

package eval

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxReplicated is the service's limit for the result of REPLICATE, in characters.
const maxReplicated = 10_000

// stringFunctions build strings from strings.
func stringFunctions() []builtin {
	one := func(name string, f func(string) string) builtin {
		return fn(name, 1, 1, pure(func(args []value.Value) value.Value {
			s, ok := args[0].Str()
			if !ok {
				return value.Value{}
			}
			return value.FromString(f(s))
		}))
	}
	trim := func(name string, spaces func(s string, f func(rune) bool) string) builtin {
		return fn(name, 1, 2, pure(func(args []value.Value) value.Value {
			s, ok := args[0].Str()
			if !ok {
				return value.Value{}
			}
			cut := unicode.IsSpace
			if len(args) == 2 {
				characters, isString := args[1].Str()
				if !isString {
					return value.Value{}
				}
				cut = oneOf(characters)
			}
			return value.FromString(spaces(s, cut))
		}))
	}
	return []builtin{
		fn("CONCAT", 2, unlimited, concat),
		fn("LEFT", 2, 2, pure(func(args []value.Value) value.Value { return substring(args[0], value.FromNumber(0), args[1]) })),
		fn("LENGTH", 1, 1, pure(func(args []value.Value) value.Value {
			s, ok := args[0].Str()
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(unitCount(s)))
		})),
		one("LOWER", strings.ToLower),
		trim("LTRIM", strings.TrimLeftFunc),
		fn("REPLACE", 3, 3, replace),
		fn("REPLICATE", 2, 2, replicate),
		one("REVERSE", func(s string) string {
			runes := []rune(s)
			slices.Reverse(runes)
			return string(runes)
		}),
		fn("RIGHT", 2, 2, pure(right)),
		trim("RTRIM", strings.TrimRightFunc),
		fn("StringJoin", 2, 2, stringJoin),
		fn("StringSplit", 2, 2, stringSplit),
		fn("SUBSTRING", 3, 3, pure(func(args []value.Value) value.Value { return substring(args[0], args[1], args[2]) })),
		trim("TRIM", strings.TrimFunc),
		one("UPPER", strings.ToUpper),
	}
}

// oneOf tells whether a rune is in the text, without reading all of the text for each.
func oneOf(text string) func(rune) bool {
	const few = 16
	if len(text) <= few {
		return func(r rune) bool { return strings.ContainsRune(text, r) }
	}
	runes := make(map[rune]struct{})
	for _, r := range text {
		runes[r] = struct{}{}
	}
	return func(r rune) bool {
		_, found := runes[r]
		return found
	}
}

// texts returns the arguments as strings when all of them are.
func texts(args []value.Value) ([]string, bool) {
	all := make([]string, len(args))
	for i, a := range args {
		s, ok := a.Str()
		if !ok {
			return nil, false
		}
		all[i] = s
	}
	return all, true
}

func concat(r *run, args []value.Value) value.Value {
	parts, ok := texts(args)
	if !ok {
		return value.Value{}
	}
	return join(r, parts, "")
}

// join puts strings together, within the run's limit for one string.
func join(r *run, parts []string, separator string) value.Value {
	size := len(separator) * len(parts)
	for _, p := range parts {
		size += len(p)
	}
	if !r.fits(size) || !r.hold(size) || !r.work(size) {
		return value.Value{}
	}
	return value.FromString(strings.Join(parts, separator))
}

func substring(text, start, length value.Value) value.Value {
	s, ok := text.Str()
	from, okFrom := position(start)
	n, okN := position(length)
	if !ok || !okFrom || !okN {
		return value.Value{}
	}
	if from < 0 || n < 0 {
		return value.FromString("")
	}
	return value.FromString(units(s, from, from+min(n, len(s))))
}

func right(args []value.Value) value.Value {
	s, ok := args[0].Str()
	n, okN := position(args[1])
	if !ok || !okN {
		return value.Value{}
	}
	length := unitCount(s)
	return value.FromString(units(s, length-max(n, 0), length))
}

func replace(r *run, args []value.Value) value.Value {
	parts, ok := texts(args)
	if !ok {
		return value.Value{}
	}
	if parts[1] == "" {
		return args[0]
	}
	size := len(parts[0]) + strings.Count(parts[0], parts[1])*len(parts[2])
	if !r.fits(size) || !r.hold(size) || !r.work(size) {
		return value.Value{}
	}
	return value.FromString(strings.ReplaceAll(parts[0], parts[1], parts[2]))
}

func replicate(r *run, args []value.Value) value.Value {
	s, ok := args[0].Str()
	times, okTimes := args[1].Number()
	// A comparison that NaN fails, hence the form with "not".
	if !ok || !okTimes || !(times >= 0 && times*float64(unitCount(s)) <= maxReplicated) {
		return value.Value{}
	}
	if s == "" || !r.hold(len(s)*int(times)) {
		return value.FromString("")
	}
	return value.FromString(strings.Repeat(s, int(times)))
}

func stringJoin(r *run, args []value.Value) value.Value {
	elements, okElements := args[0].Array()
	if !r.hold(arrayBytes(len(elements))) {
		return value.Value{}
	}
	separator, okSeparator := args[1].Str()
	parts, okParts := texts(elements)
	if !okElements || !okSeparator || !okParts {
		return value.Value{}
	}
	return join(r, parts, separator)
}

// stringSplit with an empty separator finds none, so that the whole string is the only part.
func stringSplit(r *run, args []value.Value) value.Value {
	both, ok := texts(args)
	if !ok {
		return value.Value{}
	}
	if both[1] == "" {
		return value.FromArray([]value.Value{args[0]})
	}
	n := strings.Count(both[0], both[1]) + 1
	if !r.hold(arrayBytes(n)) || !r.work(n*perNode) {
		return value.Value{}
	}
	parts := make([]value.Value, 0, n)
	for part := range strings.SplitSeq(both[0], both[1]) {
		parts = append(parts, value.FromString(part))
	}
	return value.FromArray(parts)
}

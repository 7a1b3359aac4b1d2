package eval

import (
	"math"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func conversionFunctions() []builtin {
	parse := func(name string, kind value.Kind) builtin {
		return fn(name, 1, 1, func(r *run, args []value.Value) value.Value {
			text, ok := args[0].Str()
			if !ok || !r.hold(decodedBytes(text)) {
				return value.Value{}
			}
			parsed, err := value.ParseString(text)
			if err != nil || parsed.Kind() != kind {
				return value.Value{}
			}
			return parsed
		})
	}
	return []builtin{
		parse("StringToArray", value.Array),
		parse("StringToBoolean", value.Bool),
		parse("StringToNull", value.Null),
		parse("StringToNumber", value.Number),
		parse("StringToObject", value.Object),
		fn("ToString", 1, 1, pure(toString)),
	}
}

func toString(args []value.Value) value.Value {
	switch v := args[0]; v.Kind() {
	case value.Undefined, value.String:
		return v
	case value.Number:
		if x, _ := v.Number(); math.IsNaN(x) || math.IsInf(x, 0) {
			return value.FromString(strings.Trim(v.String(), `"`)) // JSON has no number for these: they print quoted
		}
		return value.FromString(v.String())
	case value.Null, value.Bool, value.Array, value.Object:
		return value.FromString(v.String())
	}
	return value.Value{}
}

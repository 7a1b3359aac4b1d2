package eval

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// typeFunctions always answer true or false, for undefined too.
func typeFunctions() []builtin {
	is := func(name string, test func(value.Value) bool) builtin {
		return fn(name, 1, 1, pure(func(args []value.Value) value.Value { return value.FromBool(test(args[0])) }))
	}
	kind := func(k value.Kind) func(value.Value) bool { return func(v value.Value) bool { return v.Kind() == k } }
	return []builtin{
		is("IS_ARRAY", kind(value.Array)),
		is("IS_BOOL", kind(value.Bool)),
		is("IS_NULL", kind(value.Null)),
		is("IS_NUMBER", kind(value.Number)),
		is("IS_OBJECT", kind(value.Object)),
		is("IS_STRING", kind(value.String)),
		is("IS_DEFINED", func(v value.Value) bool { return !v.IsUndefined() }),
		is("IS_PRIMITIVE", func(v value.Value) bool { return v.Kind() >= value.Null && v.Kind() <= value.String }),
		is("IS_INTEGER", func(v value.Value) bool { _, ok := integer(v); return ok }),
		is("IS_FINITE_NUMBER", func(v value.Value) bool {
			x, ok := v.Number()
			return ok && !math.IsInf(x, 0) && !math.IsNaN(x)
		}),
		is("IS_DATETIME", func(v value.Value) bool { _, ok := instant(v); return ok }),
	}
}

func conditionalFunctions() []builtin {
	return []builtin{
		fn("IIF", 3, 3, pure(func(args []value.Value) value.Value {
			if isTrue(args[0]) {
				return args[1]
			}
			return args[2]
		})),
		fn("DocumentId", 1, 1, pure(documentID)),
	}
}

// documentID reads the ordinal of an item within its physical partition from the item's resource id.
func documentID(args []value.Value) value.Value {
	text, _ := args[0].Get("_rid").Str()
	rid, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "-", "/"))
	const item = 16 // 4 bytes of database, 4 of container, 8 of item
	if err != nil || len(rid) != item {
		return value.Value{}
	}
	const typeNibble = 0xF << 60
	return value.FromNumber(float64(binary.LittleEndian.Uint64(rid[8:]) &^ typeNibble))
}

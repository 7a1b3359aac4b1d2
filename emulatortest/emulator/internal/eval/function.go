package eval

import (
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// implementation computes a function from its evaluated arguments, whose number is already checked. An argument of the
// wrong type gives undefined; an error (through run.fail) is only for what has to end the query.
type implementation func(r *run, args []value.Value) value.Value

// builtin is a function of the language. How many arguments it takes is checked by the parser as well; the numbers here are
// those that the implementation relies on.
type builtin struct {
	name        string
	least, most int
	call        implementation // nil for aggregates and for functions that are refused
}

const unlimited = -1

// builtins is the one table of implementations, by upper-case name. It is built once and never changed. A new function also
// needs its row in the parser's table, functions.go of package sql.
var builtins = index(
	arrayFunctions(), setFunctions(), conditionalFunctions(), dateFunctions(), clockFunctions(), mathFunctions(), integerFunctions(),
	stringFunctions(), searchFunctions(), conversionFunctions(), typeFunctions(), spatialFunctions(), vectorFunctions(), fullTextFunctions(),
	aggregateFunctions(),
)

func index(families ...[]builtin) map[string]builtin {
	table := make(map[string]builtin)
	for _, family := range families {
		for _, b := range family {
			table[strings.ToUpper(b.name)] = b
		}
	}
	return table
}

func fn(name string, least, most int, call implementation) builtin {
	return builtin{name: name, least: least, most: most, call: call}
}

// refused is a function that exists in the service and not here.
func refused(name string) builtin { return builtin{name: name, most: unlimited} }

// pure adapts an implementation that needs nothing but its arguments.
func pure(call func(args []value.Value) value.Value) implementation {
	return func(_ *run, args []value.Value) value.Value { return call(args) }
}

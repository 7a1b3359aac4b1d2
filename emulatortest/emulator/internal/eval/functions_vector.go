package eval

import (
	"math"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func vectorFunctions() []builtin {
	return []builtin{fn("VectorDistance", 2, 4, pure(vectorDistance))}
}

// vectorDistance compares two vectors by the function that its options name: cosine (the default), dotproduct or
// euclidean. It always computes: whether the service would use an index (third argument) is no matter here, and the
// container's vector policy isn't consulted for a default.
func vectorDistance(args []value.Value) value.Value {
	x, okX := numbers(args[0])
	y, okY := numbers(args[1])
	if !okX || !okY || len(x) != len(y) || len(x) == 0 {
		return value.Value{}
	}
	function := "cosine"
	if len(args) == 4 {
		if name, ok := args[3].Get("distanceFunction").Str(); ok {
			function = strings.ToLower(name)
		}
	}
	var dot, lengthX, lengthY, apart float64
	for i := range x {
		dot += x[i] * y[i]
		lengthX += x[i] * x[i]
		lengthY += y[i] * y[i]
		apart += (x[i] - y[i]) * (x[i] - y[i])
	}
	switch function {
	case "cosine":
		return finite(dot / (math.Sqrt(lengthX) * math.Sqrt(lengthY)))
	case "dotproduct":
		return finite(dot)
	case "euclidean":
		return finite(math.Sqrt(apart))
	}
	return value.Value{}
}

// vectorOrder reports whether an ORDER BY expression is a vector distance, and whether its smallest values are the most
// similar ones: true for euclidean only.
func vectorOrder(e sql.Expr) (ascending, isVector bool) {
	call, ok := e.(*sql.Call)
	if !ok || call.UserDefined || !strings.EqualFold(call.Name, "VectorDistance") {
		return false, false
	}
	if len(call.Args) == 4 {
		if options, isObject := call.Args[3].(*sql.ObjectExpr); isObject {
			for _, m := range options.Members {
				if m.Name == "distanceFunction" {
					ascending = strings.EqualFold(strings.Trim(m.Value.String(), `"'`), "euclidean")
				}
			}
		}
	}
	return ascending, true
}

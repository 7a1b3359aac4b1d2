package eval

import (
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func mathFunctions() []builtin {
	one := func(name string, f func(float64) float64) builtin {
		return fn(name, 1, 1, pure(func(args []value.Value) value.Value {
			x, ok := args[0].Number()
			if !ok {
				return value.Value{}
			}
			return finite(f(x))
		}))
	}
	two := func(name string, f func(x, y float64) float64) builtin {
		return fn(name, 2, 2, pure(func(args []value.Value) value.Value {
			x, okX := args[0].Number()
			y, okY := args[1].Number()
			if !okX || !okY {
				return value.Value{}
			}
			return finite(f(x, y))
		}))
	}
	return []builtin{
		one("ABS", math.Abs),
		one("ACOS", preciseAcos),
		one("ASIN", preciseAsin),
		one("ATAN", preciseAtan),
		two("ATN2", preciseAtan2),
		one("CEILING", math.Ceil),
		one("COS", preciseCos),
		one("COT", preciseCot),
		one("DEGREES", func(x float64) float64 { return x * 180 / math.Pi }),
		one("EXP", preciseExp),
		one("FLOOR", math.Floor),
		fn("LOG", 1, 2, pure(logarithm)),
		one("LOG10", preciseLog10),
		fn("NumberBin", 1, 2, pure(numberBin)),
		fn("PI", 0, 0, pure(func([]value.Value) value.Value { return value.FromNumber(math.Pi) })),
		two("POWER", precisePow),
		one("RADIANS", func(x float64) float64 { return x * math.Pi / 180 }),
		fn("RAND", 0, 0, func(r *run, _ []value.Value) value.Value { return value.FromNumber(r.random()) }),
		fn("ROUND", 1, 2, pure(round)),
		one("SIGN", sign),
		one("SIN", preciseSin),
		one("SQRT", math.Sqrt),
		one("SQUARE", func(x float64) float64 { return x * x }),
		one("TAN", preciseTan),
		one("TRUNC", math.Trunc),
	}
}

// finite turns what is not a JSON number into undefined: the service has no way to return it.
func finite(x float64) value.Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return value.Value{}
	}
	return value.FromNumber(x)
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func logarithm(args []value.Value) value.Value {
	x, ok := args[0].Number()
	if !ok {
		return value.Value{}
	}
	if len(args) == 1 {
		return finite(preciseLog(x))
	}
	base, ok := args[1].Number()
	if !ok {
		return value.Value{}
	}
	return finite(preciseLogBase(x, base))
}

// round goes to the nearest integer, or to as many decimal places as a second argument says; halves go away from zero.
func round(args []value.Value) value.Value {
	x, ok := args[0].Number()
	if !ok {
		return value.Value{}
	}
	if len(args) == 1 {
		return finite(math.Round(x))
	}
	places, ok := position(args[1])
	if !ok {
		return value.Value{}
	}
	unit := math.Pow(10, float64(places))
	return finite(math.Round(x*unit) / unit)
}

// numberBin rounds down to a multiple of the bin size; with a negative size "down" is towards larger numbers.
func numberBin(args []value.Value) value.Value {
	x, ok := args[0].Number()
	if !ok {
		return value.Value{}
	}
	size := 1.0
	if len(args) == 2 {
		if size, ok = args[1].Number(); !ok {
			return value.Value{}
		}
	}
	return finite(math.Floor(x/size) * size)
}

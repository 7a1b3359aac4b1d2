package eval

import (
	"math"
	"math/bits"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// integerFunctions are the Int* family: 64-bit two's complement arithmetic over numbers without a fraction. A fraction,
// a division by zero or a result outside 64 bits gives undefined.
func integerFunctions() []builtin {
	two := func(name string, f func(x, y int64) (int64, bool)) builtin {
		return fn(name, 2, 2, pure(func(args []value.Value) value.Value {
			x, okX := integer(args[0])
			y, okY := integer(args[1])
			if !okX || !okY {
				return value.Value{}
			}
			z, ok := f(x, y)
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(z))
		}))
	}
	total := func(f func(x, y int64) int64) func(x, y int64) (int64, bool) {
		return func(x, y int64) (int64, bool) { return f(x, y), true }
	}
	return []builtin{
		two("IntAdd", func(x, y int64) (int64, bool) { return x + y, (x+y > x) == (y > 0) }),
		two("IntSub", func(x, y int64) (int64, bool) { return x - y, (x-y < x) == (y > 0) }),
		two("IntMul", multiply),
		two("IntDiv", func(x, y int64) (int64, bool) {
			if y == 0 || x == math.MinInt64 && y == -1 {
				return 0, false
			}
			return x / y, true
		}),
		two("IntMod", func(x, y int64) (int64, bool) {
			if y == 0 {
				return 0, false
			}
			return x % y, true
		}),
		two("IntBitAnd", total(func(x, y int64) int64 { return x & y })),
		two("IntBitOr", total(func(x, y int64) int64 { return x | y })),
		two("IntBitXor", total(func(x, y int64) int64 { return x ^ y })),
		two("IntBitLeftShift", func(x, y int64) (int64, bool) { return x << uint64(y&63), y >= 0 && y < 64 }),
		two("IntBitRightShift", func(x, y int64) (int64, bool) { return x >> uint64(y&63), y >= 0 && y < 64 }),
		fn("IntBitNot", 1, 1, pure(func(args []value.Value) value.Value {
			x, ok := integer(args[0])
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(^x))
		})),
	}
}

func multiply(x, y int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	negative := (x < 0) != (y < 0)
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	return x * y, high == 0 && low <= limit
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// integer returns a number that has no fraction and fits 64 bits. 2^63, which is what the largest 64-bit integer becomes as
// a double, counts as that integer.
func integer(v value.Value) (int64, bool) {
	x, ok := v.Number()
	if !ok || x != math.Trunc(x) || x < math.MinInt64 || x > math.MaxInt64 {
		return 0, false
	}
	if x >= 1<<63 {
		return math.MaxInt64, true
	}
	return int64(x), true
}

// position returns a whole number as an int that is safe for slicing: far values are cut off at plus or minus 2^31.
func position(v value.Value) (int, bool) {
	i, ok := integer(v)
	return int(min(max(i, math.MinInt32), math.MaxInt32)), ok
}

package eval

import (
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func isTrue(v value.Value) bool {
	b, _ := v.Bool()
	return b
}

func isFalse(v value.Value) bool {
	b, isBool := v.Bool()
	return isBool && !b
}

// and, or and not are three-valued: what is not a Boolean counts as undefined.

func and(x, y value.Value) value.Value {
	switch {
	case isFalse(x) || isFalse(y):
		return value.FromBool(false)
	case isTrue(x) && isTrue(y):
		return value.FromBool(true)
	}
	return value.Value{}
}

func or(x, y value.Value) value.Value {
	switch {
	case isTrue(x) || isTrue(y):
		return value.FromBool(true)
	case isFalse(x) && isFalse(y):
		return value.FromBool(false)
	}
	return value.Value{}
}

func not(x value.Value) value.Value {
	b, isBool := x.Bool()
	if !isBool {
		return value.Value{}
	}
	return value.FromBool(!b)
}

// comparison returns the function behind a comparison operator, nil for any other.
func comparison(op sql.BinaryOp) func(x, y value.Value) value.Value {
	switch op {
	case sql.Equals:
		return func(x, y value.Value) value.Value {
			if x.Kind() != y.Kind() || x.IsUndefined() {
				return value.Value{}
			}
			return value.FromBool(value.Equal(x, y))
		}
	case sql.NotEquals:
		return func(x, y value.Value) value.Value {
			if x.IsUndefined() || y.IsUndefined() {
				return value.Value{}
			}
			return value.FromBool(!value.Equal(x, y))
		}
	case sql.Less:
		return ordered(func(c int) bool { return c < 0 })
	case sql.LessOrEqual:
		return ordered(func(c int) bool { return c <= 0 })
	case sql.Greater:
		return ordered(func(c int) bool { return c > 0 })
	case sql.GreaterOrEqual:
		return ordered(func(c int) bool { return c >= 0 })
	default:
		return nil
	}
}

// ordered compares values of one primitive type; arrays and objects have no order among each other.
func ordered(holds func(c int) bool) func(x, y value.Value) value.Value {
	return func(x, y value.Value) value.Value {
		if x.Kind() != y.Kind() || x.IsUndefined() || x.Kind() > value.String {
			return value.Value{}
		}
		return value.FromBool(holds(value.Compare(x, y)))
	}
}

// arithmetic returns the function behind an operator on numbers, or nil. Those on bits work as in JavaScript: on 32 bits,
// signed, with the count of a shift taken modulo 32; but a number with a fraction gives undefined.
func arithmetic(op sql.BinaryOp) func(x, y value.Value) value.Value {
	floats := func(f func(x, y float64) float64) func(x, y value.Value) value.Value {
		return func(x, y value.Value) value.Value {
			a, okA := x.Number()
			b, okB := y.Number()
			if !okA || !okB {
				return value.Value{}
			}
			return finite(f(a, b))
		}
	}
	whole := func(f func(x, y int32) int32) func(x, y value.Value) value.Value {
		return func(x, y value.Value) value.Value {
			a, okA := integer(x)
			b, okB := integer(y)
			if !okA || !okB {
				return value.Value{}
			}
			return value.FromNumber(float64(f(int32(a), int32(b))))
		}
	}
	const shiftMask = 31
	switch op {
	case sql.Add:
		return floats(func(x, y float64) float64 { return x + y })
	case sql.Subtract:
		return floats(func(x, y float64) float64 { return x - y })
	case sql.Multiply:
		return floats(func(x, y float64) float64 { return x * y })
	case sql.Divide:
		return floats(func(x, y float64) float64 { return x / y })
	case sql.Modulo:
		return floats(math.Mod)
	case sql.BitOr:
		return whole(func(x, y int32) int32 { return x | y })
	case sql.BitXor:
		return whole(func(x, y int32) int32 { return x ^ y })
	case sql.BitAnd:
		return whole(func(x, y int32) int32 { return x & y })
	case sql.ShiftLeft:
		return whole(func(x, y int32) int32 { return x << (y & shiftMask) })
	case sql.ShiftRight:
		return whole(func(x, y int32) int32 { return x >> (y & shiftMask) })
	case sql.ShiftRightUnsigned:
		return func(x, y value.Value) value.Value {
			a, okA := integer(x)
			b, okB := integer(y)
			if !okA || !okB {
				return value.Value{}
			}
			return value.FromNumber(float64(uint32(a) >> (b & shiftMask)))
		}
	default:
		return nil
	}
}

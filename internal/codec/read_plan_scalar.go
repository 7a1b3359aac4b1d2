package codec

import (
	"math"
	"reflect"
	"strconv"
	"time"
)

func readString(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	s, ok := r.text()
	if ok {
		v.SetString(s)
	}
	return ok
}

func readBool(r *reader, v reflect.Value) bool {
	switch {
	case r.null():
		return true
	case r.literal("true"):
		v.SetBool(true)
		return true
	}
	return r.literal("false")
}

func readInt(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	n, negative, ok := r.integer()
	if !ok || n > math.MaxInt64 {
		return false
	}
	i := int64(n)
	if negative {
		i = -i
	}
	if v.OverflowInt(i) {
		return false
	}
	v.SetInt(i)
	return true
}

func readUint(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	n, negative, ok := r.integer()
	if !ok || negative || v.OverflowUint(n) {
		return false
	}
	v.SetUint(n)
	return true
}

func readFloat(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	from := r.pos
	if !r.number() {
		return false
	}
	f, ok := exactFloat(r.data[from:r.pos])
	if !ok {
		var err error
		if f, err = strconv.ParseFloat(string(r.data[from:r.pos]), 64); err != nil {
			return false
		}
	}
	v.SetFloat(f)
	return true
}

// powers are the powers of ten that a double holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// exactFloat reads a number without exponent of up to 15 digits: both the
// digits and the power of ten are exact doubles, so that one division rounds
// as reading the text would.
func exactFloat(b []byte) (float64, bool) {
	if len(b) > 17 {
		return 0, false
	}
	var mantissa uint64
	digits, decimals, point := 0, 0, false
	for i, c := range b {
		switch {
		case c == '-' && i == 0:
		case c == '.':
			point = true
		case c-'0' <= 9:
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
			if point {
				decimals++
			}
		default:
			return 0, false
		}
	}
	if digits > 15 {
		return 0, false
	}
	f := float64(mantissa) / powers[decimals]
	if b[0] == '-' {
		f = -f
	}
	return f, true
}

func readTime(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	from := r.pos
	raw, plain, ok := r.quoted()
	if !ok || !plain {
		return false
	}
	t, ok := v.Addr().Interface().(*time.Time)
	if ok && t.UnmarshalText(raw) == nil {
		return true
	}
	r.pos = from // some other form that the library takes
	return readOther(r, v)
}

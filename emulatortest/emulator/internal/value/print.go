package value

import (
	"math"
	"strconv"
)

// AppendJSON appends the value as compact JSON and returns the longer slice; undefined appends nothing. Members keep their
// order. Numbers are printed with the fewest digits that read back as the same double, as integers below 2^53 and in
// scientific notation beyond, as the service does. -0 is printed as 0, since the two are equal in every comparison of the service. NaN and the
// infinities, which JSON lacks, are printed as the strings "NaN", "Infinity" and "-Infinity".
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Undefined:
		return dst
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.bits == 1)
	case Number:
		return AppendNumber(dst, math.Float64frombits(v.bits))
	case String:
		return AppendString(dst, v.text())
	case Array:
		dst = append(dst, '[')
		for i, e := range v.elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.members() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return dst
}

// String returns the value as compact JSON, and the word undefined for undefined. It may hold a whole document: keep it
// out of errors and logs.
func (v Value) String() string {
	if v.kind == Undefined {
		return "undefined"
	}
	return string(v.AppendJSON(nil))
}

// AppendNumber appends a number as [Value.AppendJSON] prints it.
func AppendNumber(dst []byte, f float64) []byte {
	const (
		fixedMin = 1e-6 // below this the exponent form is the shorter
		fixedMax = 1 << 53
	)
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	case f == math.Trunc(f) && math.Abs(f) < fixedMax:
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if abs := math.Abs(f); abs >= fixedMin && abs < fixedMax {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// e-07 becomes e-7, as other JSON writers have it.
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// AppendString appends the text as a JSON string in double quotes. Only what JSON demands is escaped: the quote, the
// backslash and control characters.
func AppendString(dst []byte, text string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

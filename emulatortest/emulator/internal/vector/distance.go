package vector

import "math"

// Distance compares two vectors, and reports false when it can't: their dimensions differ, there are none, or the function
// is unknown. Numbers are rounded to the policy's data type first, as far as that is one of floating point.
func (e Embedding) Distance(x, y []float64) (float64, bool) {
	if len(x) != len(y) || len(x) == 0 {
		return 0, false
	}
	round := rounding(e.DataType)
	var dot, lengthX, lengthY, apart float64
	for i := range x {
		a, b := round(x[i]), round(y[i])
		dot += a * b
		lengthX += a * a
		lengthY += b * b
		apart += (a - b) * (a - b)
	}
	var distance float64
	switch e.Function {
	case Cosine:
		distance = dot / (math.Sqrt(lengthX) * math.Sqrt(lengthY))
	case DotProduct:
		distance = dot
	case Euclidean:
		distance = math.Sqrt(apart)
	default:
		return 0, false
	}
	return distance, !math.IsNaN(distance) && !math.IsInf(distance, 0)
}

func rounding(dataType string) func(float64) float64 {
	switch dataType {
	case "float32":
		return func(f float64) float64 { return float64(float32(f)) }
	case "float16":
		return halfPrecision
	}
	return func(f float64) float64 { return f }
}

// halfPrecision rounds to the nearest number of 16 bits: 11 bits of precision, exponents from -14 to 15.
func halfPrecision(f float64) float64 {
	const (
		precision, leastExponent = 11, -13
		greatest                 = 65504
	)
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	_, exponent := math.Frexp(f)
	unit := math.Ldexp(1, max(exponent, leastExponent)-precision)
	rounded := math.RoundToEven(f/unit) * unit
	if math.Abs(rounded) > greatest {
		return math.Inf(int(math.Copysign(1, f)))
	}
	return rounded
}

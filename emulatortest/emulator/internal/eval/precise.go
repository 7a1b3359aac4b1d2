package eval

import "math"

// Constants to more than the precision of a double, as sums of doubles. Each is the nearest double to what those before it
// leave of the true value.
var (
	ln2     = [...]float64{0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34}
	halfPi  = [...]float64{1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50}
	perLn10 = pair{0.4342944819032518, 1.098319650216765e-17}
)

// exponential is e to the power of x.
func exponential(x pair) pair {
	k := math.Round(x.hi / ln2[0])
	for _, part := range ln2 {
		x = x.minus(exactProduct(k, part))
	}
	// The series runs over a small part of x; squaring makes up for it, on the result less 1 so as not to lose digits.
	const halvings = 9
	x = x.scaled(-halvings)
	result, term := x, x
	for n := 2.0; n <= 9; n++ {
		term = term.times(x).over(exact(n))
		result = result.plus(term)
	}
	for range halvings {
		result = result.scaled(1).plus(result.times(result))
	}
	return result.plus(exact(1)).scaled(int(k))
}

// naturalLog is the logarithm of a positive, finite number.
func naturalLog(x float64) pair {
	const near = 1.0 / 16
	if math.Abs(x-1) < near {
		// 2 artanh((x-1)/(x+1)), which keeps its digits where the logarithm is small.
		t := exactSum(x, -1).over(exactSum(x, 1))
		square := t.times(t)
		result, power := t, t
		for n := 3.0; n <= 27; n += 2 {
			power = power.times(square)
			result = result.plus(power.over(exact(n)))
		}
		return result.scaled(1)
	}
	fraction, exponent := math.Frexp(x)
	guess := math.Log(fraction)
	// One step of Newton's method doubles the digits of the guess.
	rest := exact(fraction).times(exponential(exact(-guess))).minus(exact(1))
	result := exact(guess).plus(rest)
	for _, part := range ln2[:2] {
		result = result.plus(exactProduct(float64(exponent), part))
	}
	return result
}

// mostTurns bounds what sinCos takes; beyond it the angle has lost its digits to its size.
const mostTurns = 1 << 20

// sinCos returns sine and cosine of an angle below mostTurns.
func sinCos(angle float64) (sine, cosine pair) {
	quarter := math.Round(angle / halfPi[0])
	x := exact(angle)
	for _, part := range halfPi {
		x = x.minus(exactProduct(quarter, part))
	}
	square := x.times(x).negated()
	sine, cosine = x, exact(1)
	odd, even := x, exact(1)
	for n := 1.0; n <= 27; n += 2 {
		even = even.times(square).over(exactProduct(n, n+1))
		cosine = cosine.plus(even)
		odd = odd.times(square).over(exactProduct(n+1, n+2))
		sine = sine.plus(odd)
	}
	switch int64(quarter) & 3 {
	case 1:
		return cosine, sine.negated()
	case 2:
		return sine.negated(), cosine.negated()
	case 3:
		return cosine.negated(), sine
	}
	return sine, cosine
}

// angleOf is the angle of the point (x, y), by one step of Newton's method from the library's.
func angleOf(y, x pair) pair {
	guess := math.Atan2(y.hi, x.hi)
	sine, cosine := sinCos(guess)
	rest := y.times(cosine).minus(x.times(sine)).over(x.times(cosine).plus(y.times(sine)))
	return exact(guess).plus(rest)
}

// moderate reports whether the products of such numbers neither overflow nor vanish.
func moderate(numbers ...float64) bool {
	for _, x := range numbers {
		if size := math.Abs(x); !(size > 1e-140 && size < 1e140) {
			return false
		}
	}
	return true
}

func preciseExp(x float64) float64 {
	if !(math.Abs(x) < 700) {
		return math.Exp(x)
	}
	return exponential(exact(x)).value()
}

func preciseLog(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log(x)
	}
	return naturalLog(x).value()
}

func preciseLog10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log10(x)
	}
	return naturalLog(x).times(perLn10).value()
}

func preciseLogBase(x, base float64) float64 {
	if !(x > 0 && base > 0) || base == 1 || math.IsInf(x, 0) || math.IsInf(base, 0) {
		return math.Log(x) / math.Log(base)
	}
	return naturalLog(x).over(naturalLog(base)).value()
}

func precisePow(x, y float64) float64 {
	library := math.Pow(x, y)
	if !moderate(library) || x == 0 || y == 0 || math.IsInf(y, 0) {
		return library
	}
	result := exponential(naturalLog(math.Abs(x)).times(exact(y))).value()
	return math.Copysign(result, library)
}

func preciseSin(x float64) float64 {
	if !(math.Abs(x) < mostTurns) || !moderate(x) {
		return math.Sin(x)
	}
	sine, _ := sinCos(x)
	return sine.value()
}

func preciseCos(x float64) float64 {
	if !(math.Abs(x) < mostTurns) {
		return math.Cos(x)
	}
	_, cosine := sinCos(x)
	return cosine.value()
}

func preciseTan(x float64) float64 {
	if !(math.Abs(x) < mostTurns) || !moderate(x) {
		return math.Tan(x)
	}
	sine, cosine := sinCos(x)
	return sine.over(cosine).value()
}

func preciseCot(x float64) float64 {
	if !(math.Abs(x) < mostTurns) || !moderate(x) {
		return 1 / math.Tan(x)
	}
	sine, cosine := sinCos(x)
	return cosine.over(sine).value()
}

func preciseAtan2(y, x float64) float64 {
	if !moderate(y, x) {
		return math.Atan2(y, x)
	}
	return angleOf(exact(y), exact(x)).value()
}

func preciseAtan(x float64) float64 { return preciseAtan2(x, 1) }

// leg is the other side of a right triangle with the hypotenuse 1.
func leg(x float64) pair { return exactSum(1, -x).times(exactSum(1, x)).root() }

func preciseAsin(x float64) float64 {
	if !moderate(x) || !(math.Abs(x) < 1) {
		return math.Asin(x)
	}
	return angleOf(exact(x), leg(x)).value()
}

func preciseAcos(x float64) float64 {
	if !moderate(x) || !(math.Abs(x) < 1) {
		return math.Acos(x)
	}
	return angleOf(leg(x), exact(x)).value()
}

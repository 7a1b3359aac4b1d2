package eval

import "math"

// pair is a number of about 106 bits: the unevaluated sum of two doubles, of which lo is less than half a unit of hi. With
// it the functions of precise.go come out as the double nearest to the true result in all but the rarest cases, which is
// what the mathematical library behind the service gives, and package math doesn't promise. The algorithms are the classic
// ones of Dekker and Knuth.
type pair struct{ hi, lo float64 }

func exact(x float64) pair { return pair{hi: x} }

func (a pair) value() float64 { return a.hi + a.lo }

func (a pair) negated() pair { return pair{-a.hi, -a.lo} }

// normal restores the order of magnitude between the parts.
func normal(hi, lo float64) pair {
	s := hi + lo
	return pair{s, lo - (s - hi)}
}

// exactSum adds two doubles without a loss.
func exactSum(a, b float64) pair {
	s := a + b
	v := s - a
	return pair{s, (a - (s - v)) + (b - v)}
}

// exactProduct multiplies two doubles without a loss.
func exactProduct(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (a pair) plus(b pair) pair {
	s, t := exactSum(a.hi, b.hi), exactSum(a.lo, b.lo)
	s = normal(s.hi, s.lo+t.hi)
	return normal(s.hi, s.lo+t.lo)
}

func (a pair) minus(b pair) pair { return a.plus(b.negated()) }

func (a pair) times(b pair) pair {
	p := exactProduct(a.hi, b.hi)
	return normal(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a pair) over(b pair) pair {
	q := a.hi / b.hi
	r := a.minus(b.times(exact(q)))
	second := r.hi / b.hi
	r = r.minus(b.times(exact(second)))
	return normal(q, second).plus(exact(r.hi / b.hi))
}

// root is the square root of a number that is not negative.
func (a pair) root() pair {
	if a.hi <= 0 {
		return pair{}
	}
	s := math.Sqrt(a.hi)
	r := a.minus(exactProduct(s, s))
	return normal(s, r.hi/(2*s))
}

// scaled multiplies by a power of two.
func (a pair) scaled(power int) pair { return pair{math.Ldexp(a.hi, power), math.Ldexp(a.lo, power)} }

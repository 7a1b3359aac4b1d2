package eval

import (
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// accumulator folds the values of one aggregate over one group. What it holds on to is debited as kept.
type accumulator interface {
	add(r *run, v value.Value)
	result() value.Value
}

func aggregateFunctions() []builtin {
	aggregate := func(name string) builtin {
		return builtin{name: name, least: 1, most: 1}
	}
	return []builtin{
		aggregate("AVG"), aggregate("COUNT"), aggregate("COUNTIF"), aggregate("MAKELIST"), aggregate("MAKESET"), aggregate("MAX"),
		aggregate("MIN"), aggregate("SUM"),
	}
}

// newAccumulator returns the constructor for an aggregate function, or nil for any other.
func newAccumulator(name string) func() accumulator {
	switch strings.ToUpper(name) {
	case "AVG":
		return func() accumulator { return &sum{mean: true} }
	case "COUNT":
		return func() accumulator { return &count{counts: func(v value.Value) bool { return !v.IsUndefined() }} }
	case "COUNTIF":
		return func() accumulator { return &count{counts: isTrue} }
	case "MAKELIST":
		return func() accumulator { return &list{} }
	case "MAKESET":
		return func() accumulator { return &distinct{NewSet()} }
	case "MAX":
		return func() accumulator { return &extremum{direction: 1} }
	case "MIN":
		return func() accumulator { return &extremum{direction: -1} }
	case "SUM":
		return func() accumulator { return &sum{} }
	}
	return nil
}

type count struct {
	counts func(value.Value) bool
	n      int
}

func (c *count) add(_ *run, v value.Value) {
	if c.counts(v) {
		c.n++
	}
}

func (c *count) result() value.Value { return value.FromNumber(float64(c.n)) }

// sum adds numbers; anything else that is defined makes it undefined. The mean of nothing is undefined, the sum is 0.
type sum struct {
	mean   bool
	n      int
	total  float64
	spoilt bool
}

func (s *sum) add(_ *run, v value.Value) {
	if v.IsUndefined() {
		return
	}
	x, ok := v.Number()
	if !ok {
		s.spoilt = true
	}
	s.n++
	s.total += x
}

func (s *sum) result() value.Value {
	switch {
	case s.spoilt, s.mean && s.n == 0:
		return value.Value{}
	case s.mean:
		return finite(s.total / float64(s.n))
	}
	return finite(s.total)
}

// extremum keeps the largest or smallest primitive value, across types; an array or object makes it undefined.
type extremum struct {
	direction int
	best      value.Value
	bytes     int // retained for it
	spoilt    bool
}

func (e *extremum) add(r *run, v value.Value) {
	switch {
	case v.IsUndefined():
	case v.Kind() > value.String:
		e.spoilt = true
	case !r.compares(v, e.best):
	case e.best.IsUndefined() || value.Compare(v, e.best)*e.direction > 0:
		r.meter.Free(e.bytes)
		e.best, e.bytes = v, MemoryOf(v)
		r.keep(e.bytes)
	}
}

func (e *extremum) result() value.Value {
	if e.spoilt {
		return value.Value{}
	}
	return e.best
}

type list struct{ values []value.Value }

func (l *list) add(r *run, v value.Value) {
	if !v.IsUndefined() && r.walks(v) && r.keep(elementBytes+MemoryOf(v)) {
		l.values = append(l.values, v)
	}
}

func (l *list) result() value.Value { return value.FromArray(l.values) }

type distinct struct{ values *Set }

func (d *distinct) add(r *run, v value.Value) {
	if !v.IsUndefined() && r.walks(v) && d.values.Add(v) {
		r.keep(SetBytes + MemoryOf(v))
	}
}

func (d *distinct) result() value.Value { return value.FromArray(d.values.values) }

package plan

import (
	"cmp"
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// interval is a stretch of values that one level of a partition key may have, in the service's order of types. A partition
// key that is hashed can be routed by single values only; longer stretches tell which values are impossible.
type interval struct {
	low, high bound
}

// bound is an end of an interval.
type bound struct {
	kind   kind
	number float64
	text   string
	open   bool // the value itself lies outside
}

// kind orders the values of different types; aboveAll is behind every value.
type kind uint8

const (
	undefinedKind kind = iota
	nullKind
	falseKind
	trueKind
	numberKind
	textKind
	aboveAll
)

// boundOf returns the value as an end of an interval, and whether it can be part of a partition key. An empty object is
// written like a missing key, and taken for one.
func boundOf(v value.Value) (bound, bool) {
	switch v.Kind() {
	case value.Null:
		return bound{kind: nullKind}, true
	case value.Bool:
		if b, _ := v.Bool(); b {
			return bound{kind: trueKind}, true
		}
		return bound{kind: falseKind}, true
	case value.Number:
		n, _ := v.Number()
		return bound{kind: numberKind, number: n + 0}, !math.IsNaN(n) // -0 becomes 0
	case value.String:
		s, _ := v.Str()
		return bound{kind: textKind, text: s}, true
	case value.Object:
		members, _ := v.Members()
		return bound{kind: undefinedKind}, len(members) == 0
	case value.Undefined, value.Array:
	}
	return bound{}, false
}

func point(b bound) interval { return interval{b, b} }

func (b bound) compare(c bound) int {
	return cmp.Or(cmp.Compare(b.kind, c.kind), cmp.Compare(b.number, c.number), cmp.Compare(b.text, c.text))
}

func (b bound) opened(open bool) bound {
	b.open = open
	return b
}

// compared returns the values for which a comparison with b holds, which are of b's type.
func compared(op sql.BinaryOp, b bound) (interval, bool) {
	least, end := bound{kind: b.kind}, bound{kind: b.kind + 1, open: true}
	switch b.kind {
	case numberKind:
		least.number = math.Inf(-1)
		end.number = 0
	case falseKind, trueKind:
		least, end = bound{kind: falseKind}, bound{kind: trueKind}
	case undefinedKind, nullKind, aboveAll:
		return interval{}, false
	case textKind:
	}
	switch op {
	case sql.Less:
		return interval{least, b.opened(true)}, true
	case sql.LessOrEqual:
		return interval{least, b}, true
	case sql.Greater:
		return interval{b.opened(true), end}, true
	case sql.GreaterOrEqual:
		return interval{b, end}, true
	default:
		return interval{}, false
	}
}

// intersect returns what two intervals share, and whether that is anything.
func (i interval) intersect(j interval) (interval, bool) {
	if c := i.low.compare(j.low); c < 0 || c == 0 && j.low.open {
		i.low = j.low
	}
	if c := i.high.compare(j.high); c > 0 || c == 0 && j.high.open {
		i.high = j.high
	}
	c := i.low.compare(i.high)
	return i, c < 0 || c == 0 && !i.low.open && !i.high.open
}

// component returns the only value of the interval, if it has only one.
func (i interval) component() (epk.Component, bool) {
	if i.low != i.high || i.low.open {
		return epk.Component{}, false
	}
	switch i.low.kind {
	case undefinedKind:
		return epk.Undefined(), true
	case nullKind:
		return epk.Null(), true
	case falseKind, trueKind:
		return epk.Bool(i.low.kind == trueKind), true
	case numberKind:
		return epk.Number(i.low.number), true
	case textKind:
		return epk.String(i.low.text), true
	case aboveAll:
	}
	return epk.Component{}, false
}

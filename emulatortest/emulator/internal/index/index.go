// Package index is how a query says to a store which items it needs: by ranges of the values at a path, or in the order of
// the values at some paths. The store may have an index that answers, or not, and then the query reads all items.
package index

import (
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Element is the last step of a [Path] that leads to each element of an array rather than to the array.
const Element = "[]"

// Path leads to a value of an item by the names of members. It may end in [Element].
type Path []string

// Key is one of the paths of a sort.
type Key struct {
	Path       Path
	Descending bool
}

// Order is a sort by several values, the first one first; items that are equal in all are in the order of their rids. An
// order also serves the opposite one. One path alone serves look-ups as well.
type Order []Key

// By is the order of the values at one path.
func By(p Path) Order { return Order{{Path: p}} }

// Name tells orders apart.
func (o Order) Name() string {
	var b strings.Builder
	for _, k := range o {
		if k.Descending != o[0].Descending {
			b.WriteByte('-')
		}
		for _, step := range k.Path {
			b.WriteByte('/')
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
		}
		b.WriteByte(',')
	}
	return b.String()
}

// Compare orders values as an index does: like [value.Compare], except that arrays are all equal, and objects too, since an
// index knows their kind only.
func Compare(a, b value.Value) int {
	if a.Kind() == b.Kind() && !Exact(a) {
		return 0
	}
	return value.Compare(a, b)
}

// Exact reports whether an index knows the value itself, and not only its kind.
func Exact(v value.Value) bool { return v.Kind() != value.Array && v.Kind() != value.Object }

// Cut is a place between two values in their order.
type Cut struct {
	at     value.Value
	kind   value.Kind
	ofKind bool // at is of no concern: the cut is at an end of a kind
	prefix bool // behind all strings that begin with at
	after  bool // behind what equals at, or behind the kind
}

// Below reports whether a value lies before the cut.
func (c Cut) Below(v value.Value) bool {
	if c.ofKind {
		return v.Kind() < c.kind || c.after && v.Kind() == c.kind
	}
	if c.prefix {
		start, _ := c.at.Str()
		if text, ok := v.Str(); ok && strings.HasPrefix(text, start) {
			return true
		}
	}
	order := Compare(v, c.at)
	return order < 0 || c.after && order == 0
}

// Range is the values between two cuts.
type Range struct{ From, To Cut }

// Holds reports whether the value lies in the range.
func (r Range) Holds(v value.Value) bool { return !r.From.Below(v) && r.To.Below(v) }

// Equal is the range of one value; of all values of its kind when that is not [Exact].
func Equal(v value.Value) Range { return Range{From: Cut{at: v}, To: Cut{at: v, after: true}} }

// Point is the one value of a range that [Equal] made, if an index knows it.
func (r Range) Point() (value.Value, bool) {
	one := !r.From.ofKind && !r.From.after && !r.To.ofKind && !r.To.prefix && r.To.after
	return r.From.at, one && Exact(r.From.at) && Compare(r.From.at, r.To.at) == 0
}

// OfKind is the range of a kind.
func OfKind(k value.Kind) Range {
	return Range{From: Cut{kind: k, ofKind: true}, To: Cut{kind: k, ofKind: true, after: true}}
}

// Above is the values of the same kind that are greater, or equal as well.
func Above(v value.Value, equal bool) Range {
	r := OfKind(v.Kind())
	r.From = Cut{at: v, after: !equal}
	return r
}

// Under is the values of the same kind that are less, or equal as well.
func Under(v value.Value, equal bool) Range {
	r := OfKind(v.Kind())
	r.To = Cut{at: v, after: equal}
	return r
}

// Prefix is the strings that begin with that one.
func Prefix(start string) Range {
	at := value.FromString(start)
	return Range{From: Cut{at: at}, To: Cut{at: at, prefix: true}}
}

// Condition is met by items with a value at the path, or one of the values, that lies in one of the ranges.
type Condition struct {
	Path   Path
	Ranges []Range // that do not overlap
	// Same says that every item which meets the condition meets that of the query, so that counting needs no look at it.
	Same bool
}

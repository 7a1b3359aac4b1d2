package merge

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Compare orders two values. By kind first: undefined, null, false and true,
// numbers, strings, arrays, objects ([Kind] in value.go). Within a kind, false comes
// before true, numbers go by size and strings by UTF-16 code units. Arrays compare element by element and objects
// member by member in the order of names; the service documents no order among
// those. The result is negative, zero or positive.
func Compare(a, b Value) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	switch a.kind {
	case Bool:
		return compareBools(a.yes, b.yes)
	case Number:
		return cmp.Compare(a.num, b.num)
	case String:
		return compareText(a.text, b.text)
	case Array:
		return slices.CompareFunc(a.items, b.items, Compare)
	case Object:
		return slices.CompareFunc(a.members, b.members, func(x, y member) int {
			return cmp.Or(compareText(x.name, y.name), Compare(x.value, y.value))
		})
	case Undefined, Null:
	}
	return 0
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func sortMembers(members []member) {
	slices.SortFunc(members, func(x, y member) int { return compareText(x.name, y.name) })
}

// compareText differs from a comparison of the bytes where exactly one of two
// characters needs a surrogate pair in UTF-16: pairs sort before U+E000.
func compareText(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && i < len(a) && i < len(b) && !utf8.RuneStart(a[i]) {
		i--
	}
	ra, _ := utf8.DecodeRuneInString(a[i:])
	rb, _ := utf8.DecodeRuneInString(b[i:])
	if i < len(a) && i < len(b) && (ra > 0xffff) != (rb > 0xffff) && max(ra, rb) > 0xffff && min(ra, rb) >= 0xe000 {
		return cmp.Compare(rb, ra)
	}
	return strings.Compare(a[i:], b[i:])
}

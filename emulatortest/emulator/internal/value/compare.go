package value

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Compare orders any two values: by kind first (undefined, null, booleans, numbers, strings, arrays, objects: [Kind] in
// value.go), then false before true, numbers by
// size, strings by UTF-16 code units, arrays element by element with a prefix first, objects member by member in the order
// of their names. NaN comes before every other number. The result is negative, zero or positive, and zero exactly when
// [Equal] holds.
//
// ORDER BY applies it in collect.go of package query (execution.order).
//
// The service doesn't document how it orders arrays among each other, or objects; this order is Grove's choice.
func Compare(a, b Value) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	switch a.kind {
	case Undefined, Null:
		return 0
	case Bool:
		return cmp.Compare(a.bits, b.bits)
	case Number:
		return cmp.Compare(math.Float64frombits(a.bits), math.Float64frombits(b.bits))
	case String:
		return CompareStrings(a.text(), b.text())
	case Array:
		return slices.CompareFunc(a.elements(), b.elements(), Compare)
	case Object:
		return slices.CompareFunc(sortedMembers(a), sortedMembers(b), func(x, y Member) int {
			return cmp.Or(CompareStrings(x.Name, y.Name), Compare(x.Value, y.Value))
		})
	}
	return 0
}

func sortedMembers(v Value) []Member {
	members := slices.Clone(v.members())
	slices.SortFunc(members, func(x, y Member) int { return CompareStrings(x.Name, y.Name) })
	return members
}

// CompareStrings orders two strings by their UTF-16 code units, as the service does: characters outside the basic plane
// sort before U+E000, which is not where their UTF-8 bytes would put them.
func CompareStrings(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	// UTF-8 and UTF-16 order differ only where exactly one of the characters needs a surrogate pair: a lead byte of
	// 0xF0 or more against a three-byte character from U+E000 on.
	for i > 0 && i < n && !utf8.RuneStart(a[i]) {
		i--
	}
	if i == n || (a[i] < 0xEE && b[i] < 0xEE) {
		return strings.Compare(a[i:], b[i:])
	}
	ra, _ := utf8.DecodeRuneInString(a[i:])
	rb, _ := utf8.DecodeRuneInString(b[i:])
	return cmp.Or(cmp.Compare(utf16Rank(ra), utf16Rank(rb)), strings.Compare(a[i:], b[i:]))
}

// utf16Rank orders characters as their UTF-16 code units would: surrogate pairs go between U+D7FF and U+E000.
func utf16Rank(r rune) rune {
	const afterEverySupplementary = utf8.MaxRune + 1
	if r >= 0xE000 && r <= 0xFFFF {
		return r + afterEverySupplementary
	}
	return r
}

// Equal reports deep equality. The order of an object's members is irrelevant, 0 equals -0, and NaN equals NaN.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Undefined, Null:
		return true
	case Bool:
		return a.bits == b.bits
	case Number:
		return cmp.Compare(math.Float64frombits(a.bits), math.Float64frombits(b.bits)) == 0
	case String:
		return a.text() == b.text()
	case Array:
		return slices.EqualFunc(a.elements(), b.elements(), Equal)
	case Object:
		return equalObjects(a, b)
	}
	return false
}

func equalObjects(a, b Value) bool {
	am, bm := a.members(), b.members()
	if len(am) != len(bm) {
		return false
	}
	if len(am) > linearMembers {
		return Compare(a, b) == 0
	}
	for i := range am {
		// Documents of one kind keep one member order, so the same position is the best first guess.
		other := bm[i]
		if other.Name != am[i].Name {
			other.Value = b.Get(am[i].Name)
		}
		if !Equal(am[i].Value, other.Value) {
			return false
		}
	}
	return true
}

// Hash returns a hash that is the same for [Equal] values. The seed must be the same for hashes to be compared.
func (v Value) Hash(seed maphash.Seed) uint64 {
	switch v.kind {
	case Number:
		f := math.Float64frombits(v.bits)
		switch {
		case f == 0:
			f = 0 // -0 as well
		case math.IsNaN(f):
			f = math.NaN() // whatever its payload
		}
		return maphash.Comparable(seed, [2]uint64{uint64(Number), math.Float64bits(f)})
	case String:
		return maphash.String(seed, v.text())
	case Array:
		h := maphash.Comparable(seed, [2]uint64{uint64(Array), v.bits})
		for _, e := range v.elements() {
			h = h*31 + e.Hash(seed)
		}
		return h
	case Object:
		// A sum, since members may come in any order.
		h := maphash.Comparable(seed, [2]uint64{uint64(Object), v.bits})
		for _, m := range v.members() {
			h += maphash.Comparable(seed, [2]uint64{maphash.String(seed, m.Name), m.Value.Hash(seed)})
		}
		return h
	case Undefined, Null, Bool:
	}
	return maphash.Comparable(seed, [2]uint64{uint64(v.kind), v.bits})
}

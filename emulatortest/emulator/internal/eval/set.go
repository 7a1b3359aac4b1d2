package eval

import (
	"hash/maphash"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Set numbers distinct values in the order of their arrival. Look-ups are by hash, so that a query over many distinct
// values stays linear.
type Set struct {
	seed   maphash.Seed
	byHash map[uint64][]int
	values []value.Value
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{seed: maphash.MakeSeed(), byHash: make(map[uint64][]int)}
}

// has reports whether the set holds an equal value.
func (s *Set) has(v value.Value) bool {
	for _, at := range s.byHash[v.Hash(s.seed)] {
		if value.Equal(s.values[at], v) {
			return true
		}
	}
	return false
}

// Add puts a value in and reports whether it is new.
func (s *Set) Add(v value.Value) bool {
	_, isNew := s.add(v)
	return isNew
}

// add returns the value's number, and whether it is new.
func (s *Set) add(v value.Value) (at int, isNew bool) {
	hash := v.Hash(s.seed)
	for _, at := range s.byHash[hash] {
		if value.Equal(s.values[at], v) {
			return at, false
		}
	}
	at = len(s.values)
	s.byHash[hash] = append(s.byHash[hash], at)
	s.values = append(s.values, v)
	return at, true
}

func setOf(elements []value.Value) *Set {
	s := NewSet()
	for _, e := range elements {
		s.add(e)
	}
	return s
}

func setFunctions() []builtin {
	two := func(name string, f func(x, y []value.Value) value.Value) builtin {
		return fn(name, 2, 2, pure(func(args []value.Value) value.Value {
			x, okX := args[0].Array()
			y, okY := args[1].Array()
			if !okX || !okY {
				return value.Value{}
			}
			return f(x, y)
		}))
	}
	return []builtin{
		two("SetDifference", func(x, y []value.Value) value.Value { return filterSet(x, setOf(y), false) }),
		two("SetEqual", func(x, y []value.Value) value.Value {
			sx, sy := setOf(x), setOf(y)
			if len(sx.values) != len(sy.values) {
				return value.FromBool(false)
			}
			for _, v := range sx.values {
				if !sy.has(v) {
					return value.FromBool(false)
				}
			}
			return value.FromBool(true)
		}),
		// The service lists an intersection in the order of the second array.
		two("SetIntersect", func(x, y []value.Value) value.Value { return filterSet(y, setOf(x), true) }),
		two("SetUnion", func(x, y []value.Value) value.Value {
			union := setOf(x)
			for _, v := range y {
				union.add(v)
			}
			return value.FromArray(union.values)
		}),
	}
}

// filterSet returns the distinct elements whose membership in other is as wanted.
func filterSet(elements []value.Value, other *Set, wanted bool) value.Value {
	kept := NewSet()
	for _, v := range elements {
		if other.has(v) == wanted {
			kept.add(v)
		}
	}
	return value.FromArray(kept.values)
}

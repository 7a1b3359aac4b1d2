package value

import (
	"math"
	"unsafe"
)

// Kind is the type of a [Value]. Kinds are declared in the order in which the service sorts values of different types.
type Kind uint8

// The kinds, in the service's sort order.
const (
	Undefined Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind's lower-case name, for messages.
func (k Kind) String() string {
	switch k {
	case Undefined:
		return "undefined"
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "unknown"
}

// Value is one immutable JSON value or undefined. The zero Value is undefined. Use [Equal], not ==, which does not compile.
type Value struct {
	_    [0]func() // a shallow == would be wrong for everything but numbers
	kind Kind
	// bits is the number's or Boolean's bits, or the length of what ptr points to. Holding strings, arrays and objects
	// behind one pointer keeps a Value at three words, which is what makes large arrays of them cheap to scan.
	bits uint64
	ptr  unsafe.Pointer
}

// Member is one named value of an object.
type Member struct {
	Name  string
	Value Value
}

// NullValue returns JSON null.
func NullValue() Value { return Value{kind: Null} }

// FromBool returns a Boolean.
func FromBool(b bool) Value {
	if b {
		return Value{kind: Bool, bits: 1}
	}
	return Value{kind: Bool}
}

// FromNumber returns a number. NaN and the infinities are allowed as intermediate results; see [Value.AppendJSON] for how
// they are printed.
func FromNumber(f float64) Value {
	return Value{kind: Number, bits: math.Float64bits(f)}
}

// FromString returns a string. The text must be valid UTF-8.
func FromString(s string) Value {
	return Value{kind: String, bits: uint64(len(s)), ptr: unsafe.Pointer(unsafe.StringData(s))}
}

// FromArray returns an array of the elements, without those that are undefined. It takes ownership of the slice.
func FromArray(elements []Value) Value {
	for i := range elements {
		if elements[i].kind == Undefined {
			elements = definedElements(elements, i)
			break
		}
	}
	return Value{kind: Array, bits: uint64(len(elements)), ptr: unsafe.Pointer(unsafe.SliceData(elements))}
}

func definedElements(elements []Value, firstUndefined int) []Value {
	kept := append(make([]Value, 0, len(elements)-1), elements[:firstUndefined]...)
	for _, e := range elements[firstUndefined+1:] {
		if e.kind != Undefined {
			kept = append(kept, e)
		}
	}
	return kept
}

// FromObject returns an object with the members in the order given, without those whose value is undefined. Of several
// members with one name the last value stands, in the first one's position. It takes ownership of the slice.
func FromObject(members []Member) Value {
	for i := range members {
		if members[i].Value.kind == Undefined {
			members = definedMembers(members, i)
			break
		}
	}
	return fromDefined(uniqueMembers(members))
}

func fromDefined(members []Member) Value {
	return Value{kind: Object, bits: uint64(len(members)), ptr: unsafe.Pointer(unsafe.SliceData(members))}
}

func definedMembers(members []Member, firstUndefined int) []Member {
	kept := append(make([]Member, 0, len(members)-1), members[:firstUndefined]...)
	for _, m := range members[firstUndefined+1:] {
		if m.Value.kind != Undefined {
			kept = append(kept, m)
		}
	}
	return kept
}

// linearMembers is the object size up to which comparing names pairwise beats building an index of them.
const linearMembers = 16

// uniqueMembers merges members of the same name. The slice may be modified.
func uniqueMembers(members []Member) []Member {
	if len(members) <= linearMembers {
		return uniqueFew(members)
	}
	position := make(map[string]int, len(members))
	kept := members[:0]
	for _, m := range members {
		if at, seen := position[m.Name]; seen {
			kept[at].Value = m.Value
			continue
		}
		position[m.Name] = len(kept)
		kept = append(kept, m)
	}
	return kept
}

func uniqueFew(members []Member) []Member {
	kept := members[:0]
next:
	for _, m := range members {
		for at := range kept {
			if kept[at].Name == m.Name {
				kept[at].Value = m.Value
				continue next
			}
		}
		kept = append(kept, m)
	}
	return kept
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// IsUndefined reports whether the value is undefined.
func (v Value) IsUndefined() bool { return v.kind == Undefined }

// Bool returns the Boolean, and whether the value is one.
func (v Value) Bool() (b, ok bool) { return v.kind == Bool && v.bits == 1, v.kind == Bool }

// Number returns the number, and whether the value is one.
func (v Value) Number() (float64, bool) {
	if v.kind != Number {
		return 0, false
	}
	return math.Float64frombits(v.bits), true
}

// Str returns the string, and whether the value is one.
func (v Value) Str() (string, bool) {
	if v.kind != String {
		return "", false
	}
	return v.text(), true
}

// Array returns the elements, and whether the value is an array. The slice is shared: don't modify it.
func (v Value) Array() ([]Value, bool) {
	if v.kind != Array {
		return nil, false
	}
	return v.elements(), true
}

// Members returns the members in their order, and whether the value is an object. The slice is shared: don't modify it.
func (v Value) Members() ([]Member, bool) {
	if v.kind != Object {
		return nil, false
	}
	return v.members(), true
}

// The three accessors below are the only readers of ptr; each is right only for its own kind.

func (v Value) text() string { return unsafe.String((*byte)(v.ptr), int(v.bits)) }

func (v Value) elements() []Value { return unsafe.Slice((*Value)(v.ptr), int(v.bits)) }

func (v Value) members() []Member { return unsafe.Slice((*Member)(v.ptr), int(v.bits)) }

// Get returns the member of that name, or undefined when there is none or the value is not an object.
func (v Value) Get(name string) Value {
	if v.kind != Object {
		return Value{}
	}
	members := v.members()
	for i := range members {
		if members[i].Name == name {
			return members[i].Value
		}
	}
	return Value{}
}

// Index returns the element at i, counted from 0, or undefined when it is out of range or the value is not an array.
func (v Value) Index(i int) Value {
	if v.kind != Array || i < 0 || uint64(i) >= v.bits {
		return Value{}
	}
	return v.elements()[i]
}

// At follows member names from the value inwards; it returns undefined where the path ends early. Arrays are not entered.
func (v Value) At(path ...string) Value {
	for _, name := range path {
		v = v.Get(name)
	}
	return v
}

package epk

import (
	"encoding/binary"
	"math"
)

type kind uint8

// The type bytes that go in front of a component's payload when it is hashed.
const (
	kindUndefined kind = 0x00
	kindNull      kind = 0x01
	kindFalse     kind = 0x02
	kindTrue      kind = 0x03
	kindNumber    kind = 0x05
	kindString    kind = 0x08
)

// Component is one level of a partition key value. The zero value is [Undefined].
// Components are comparable with ==, except that a NaN never equals itself.
type Component struct {
	kind kind
	num  float64
	str  string
}

// Undefined is the component of a document that lacks the partition key's field; it differs from [Null].
func Undefined() Component { return Component{} }

// Null is the component of a field that is present and null.
func Null() Component { return Component{kind: kindNull} }

// Bool is the component of a Boolean field.
func Bool(b bool) Component {
	if b {
		return Component{kind: kindTrue}
	}
	return Component{kind: kindFalse}
}

// Number is the component of a numeric field. The bits are hashed as they are, so 0 and -0 are different keys.
func Number(f float64) Component { return Component{kind: kindNumber, num: f} }

// String is the component of a string field.
func String(s string) Component { return Component{kind: kindString, str: s} }

// IsUndefined reports whether the component stands for a missing field.
func (c Component) IsUndefined() bool { return c.kind == kindUndefined }

// IsNull reports whether the component stands for a null field.
func (c Component) IsNull() bool { return c.kind == kindNull }

// AsBool returns the Boolean, and whether the component is one.
func (c Component) AsBool() (b, ok bool) {
	return c.kind == kindTrue, c.kind == kindTrue || c.kind == kindFalse
}

// AsNumber returns the number, and whether the component is one.
func (c Component) AsNumber() (float64, bool) { return c.num, c.kind == kindNumber }

// AsString returns the string, and whether the component is one.
func (c Component) AsString() (string, bool) { return c.str, c.kind == kindString }

// AppendCanonical appends an encoding under which two keys are the same bytes exactly when they are the same key,
// level by level. Unlike a hash it has no collisions, so it can group documents into logical partitions.
func (c Component) AppendCanonical(dst []byte) []byte {
	dst = append(dst, byte(c.kind))
	switch c.kind {
	case kindNumber:
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(c.num))
	case kindString:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.str)))
		dst = append(dst, c.str...)
	}
	return dst
}

// appendHashed appends what both hash versions feed to MurmurHash; only the terminator of a string differs.
func (c Component) appendHashed(dst []byte, terminator byte) []byte {
	dst = append(dst, byte(c.kind))
	switch c.kind {
	case kindNumber:
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.num))
	case kindString:
		dst = append(dst, c.str...)
		dst = append(dst, terminator)
	}
	return dst
}

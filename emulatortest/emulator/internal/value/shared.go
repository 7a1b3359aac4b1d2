package value

import "unsafe"

// ParseShared is [Parse] without a copy of the text: the value may keep the bytes alive, so they must never change.
func ParseShared(b []byte) (Value, error) {
	return ParseString(SharedText(b))
}

// SharedText is the bytes as a string without a copy; they must never change.
func SharedText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

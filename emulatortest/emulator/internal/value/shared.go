package value

import "unsafe"

// ParseShared is [Parse] without a copy of the text: the value may keep the bytes alive, so they must never change.
func ParseShared(b []byte) (Value, error) {
	return ParseString(unsafe.String(unsafe.SliceData(b), len(b)))
}

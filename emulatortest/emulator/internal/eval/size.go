package eval

import (
	"bytes"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// What values take in memory, for [Meter]. A slice that grows has room for up to twice its elements.
const (
	elementBytes = 24 // a value in an array
	memberBytes  = 40 // a value in an object, with the header of its name
	// valueBytes is a value as it is read from JSON, in an array or object that grows.
	valueBytes = 2*memberBytes + elementBytes
	// indexedMembers is the size from which an object's members are looked up by a map when it is built.
	indexedMembers = 16
	indexBytes     = 80
)

// SetBytes is what an entry of a [Set] takes besides its value: its hash and its place in a map.
const SetBytes = 160

func arrayBytes(n int) int { return n * elementBytes }

func objectBytes(n int) int {
	if n > indexedMembers {
		return n * (memberBytes + indexBytes)
	}
	return n * memberBytes
}

// sizeUpTo returns about how many bytes the value takes as JSON, or more than limit once it is known to pass that. Values
// share parts, so that a short query can describe a value of any size: nothing may walk one before this has.
func sizeUpTo(v value.Value, limit int) int {
	const plain = 6 // null, true, false or a number, with a comma
	if s, ok := v.Str(); ok {
		return 3 + len(s)
	}
	size := plain
	elements, _ := v.Array()
	for _, e := range elements {
		if size > limit {
			return size
		}
		size += sizeUpTo(e, limit-size)
	}
	members, _ := v.Members()
	for _, m := range members {
		if size > limit {
			return size
		}
		size += 3 + len(m.Name) + sizeUpTo(m.Value, limit-size)
	}
	return size
}

// walks reports whether a value may be walked to its last part, to be printed, hashed or kept, and counts the work.
func (r *run) walks(v value.Value) bool {
	if r.err != nil {
		return false
	}
	size := sizeUpTo(v, r.env.Limits.Text)
	return r.work(2*size) && r.fits(size)
}

// compares reports whether two values may be compared, and counts the work.
func (r *run) compares(x, y value.Value) bool {
	const single = 8
	if r.err != nil {
		return false
	}
	if x.Kind() != y.Kind() || x.Kind() < value.String {
		return r.work(single)
	}
	if a, ok := x.Str(); ok {
		b, _ := y.Str()
		return r.work(single + min(len(a), len(b)))
	}
	size := sizeUpTo(x, r.env.Limits.Text)
	size = min(size, sizeUpTo(y, size))
	return r.work(3*size) && r.fits(size)
}

// DecodedBytes is how much memory the values of a JSON text can take, by the characters that begin one.
func DecodedBytes(text []byte) int {
	return len(text) + valueBytes*(bytes.Count(text, []byte(","))+bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")))
}

func decodedBytes(text string) int {
	return valueBytes * (strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{"))
}

// MemoryOf is about how much memory a value takes in a list that grows. Walk only values whose size is known.
func MemoryOf(v value.Value) int {
	text, _ := v.Str()
	size := elementBytes + len(text)
	elements, _ := v.Array()
	for _, e := range elements {
		size += MemoryOf(e)
	}
	members, _ := v.Members()
	for _, m := range members {
		size += memberBytes - elementBytes + MemoryOf(m.Value)
	}
	return size
}

// Compares reports whether two values may be compared, which is work for long ones; if not, the run has failed.
func (r *Run) Compares(x, y value.Value) bool { return r.compares(x, y) }

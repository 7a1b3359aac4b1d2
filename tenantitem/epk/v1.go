package epk

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/twmb/murmur3"
)

// v1Characters is how much of a string a version 1 key looks at; longer strings that agree so far are one hash.
const v1Characters = 100

const signBit = uint64(1) << 63

// hashV1 writes the 32-bit hash as a number and then the components themselves, both in the order-preserving binary
// form, so that keys of version 1 sort by hash first.
func hashV1(components []Component) string {
	cut := make([]Component, len(components))
	for i, c := range components {
		c.str = firstCharacters(c.str, v1Characters)
		cut[i] = c
	}
	var hashed []byte
	for _, c := range cut {
		hashed = c.appendHashed(hashed, 0x00)
	}
	out := appendSortableNumber(nil, float64(murmur3.Sum32(hashed)))
	for _, c := range cut {
		out = c.appendSortable(out)
	}
	return strings.ToUpper(hex.EncodeToString(out))
}

// appendSortable appends the component so that the bytes of two components compare as the components do.
func (c Component) appendSortable(dst []byte) []byte {
	switch c.kind {
	case kindNumber:
		return appendSortableNumber(dst, c.num)
	case kindString:
		dst = append(dst, byte(c.kind))
		for i := range len(c.str) {
			b := c.str[i]
			// Zero ends the string, so every byte moves up by one; 0xFF never occurs in UTF-8 but must not wrap.
			if b < 0xFF {
				b++
			}
			dst = append(dst, b)
		}
		return append(dst, 0x00)
	default:
		return append(dst, byte(c.kind))
	}
}

// appendSortableNumber writes a double in as few bytes as keep its order: eight bits first, then groups of seven bits
// whose lowest bit says whether more follow. A last group of zeros is left out, as the JavaScript SDK does.
func appendSortableNumber(dst []byte, f float64) []byte {
	bits := math.Float64bits(f)
	if bits < signBit {
		bits ^= signBit
	} else {
		bits = ^bits + 1
	}
	dst = append(dst, byte(kindNumber), byte(bits>>56))
	for bits <<= 8; bits != 0; {
		group := byte(bits>>56) | 0x01
		bits <<= 7
		if bits == 0 {
			group &^= 0x01
		}
		dst = append(dst, group)
	}
	return dst
}

// parseSortableNumber reads back what appendSortableNumber wrote for a hash, from hexadecimal; anything else is 0.
func parseSortableNumber(digits string) float64 {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) < 2 || raw[0] != byte(kindNumber) {
		return 0
	}
	bits := uint64(raw[1]) << 56
	for i, group := range raw[2:] {
		payload := uint64(group &^ 0x01)
		if shift := 48 - 7*i; shift >= 0 {
			bits |= payload << shift
		} else {
			bits |= payload >> -shift
		}
	}
	if bits < signBit {
		return 0
	}
	return math.Float64frombits(bits ^ signBit)
}

// firstCharacters cuts a string to n UTF-16 code units, which is how the service counts them.
func firstCharacters(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

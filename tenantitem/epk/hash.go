// Package epk computes effective partition keys: the hashes by which Azure Cosmos DB places a document on one of a
// container's physical partitions.
//
// A partition key value is a list of [Component] values, one to a path of the container's partition key. [Hash] turns
// it into an upper-case hexadecimal string, by the [Scheme] of that key. A container's ranges tile the strings from [Min] to [Max], and the range
// that holds the hash holds the document:
//
//	key := epk.Hash(epk.MultiHash, epk.String("acme"), epk.String("Note"))
//	min, max := epk.PrefixRange(epk.MultiHash, epk.String("acme")) // every key that begins with "acme"
//
// The rules follow the routing code of Microsoft's SDKs for Go (internal/epk of azcosmos) and JavaScript (utils/hashing
// of @azure/cosmos).
package epk

import (
	"encoding/binary"

	"github.com/twmb/murmur3"
)

// Min is the inclusive lower end of the whole key space.
const Min = ""

// Max is the exclusive upper end of the whole key space.
const Max = "FF"

// hexDigits is the number of hexadecimal digits that one level of a version 2 key takes.
const hexDigits = 32

// Scheme says how a container hashes its partition keys. It follows from the kind and version of the container's
// partition key definition; the zero value is [HashV2].
type Scheme uint8

const (
	// HashV2 is kind "Hash", version 2: one path, large keys.
	HashV2 Scheme = iota
	// MultiHash is kind "MultiHash", version 2: a hierarchical key of up to three paths.
	MultiHash
	// HashV1 is kind "Hash", version 1: one path, of which the first 101 bytes count.
	HashV1
)

// Hash returns the effective partition key of a full value in upper-case hexadecimal. No components at all are one
// undefined component. Under [MultiHash] the levels are hashed one by one and joined, so that a prefix of the value
// gives a prefix of the key.
func Hash(s Scheme, components ...Component) string {
	if len(components) == 0 {
		components = []Component{Undefined()}
	}
	switch s {
	case HashV1:
		return hashV1(components)
	case MultiHash:
		digits := make([]byte, 0, hexDigits*len(components))
		for _, c := range components {
			digits = appendV2(digits, c)
		}
		return string(digits)
	default:
		return string(appendV2(make([]byte, 0, hexDigits), components...))
	}
}

// PrefixRange returns the range [min, max) that holds every key whose first levels are the given components. With no
// components it is the whole key space. Schemes of one level have no prefixes: there the range holds exactly the key.
func PrefixRange(s Scheme, components ...Component) (minInclusive, maxExclusive string) {
	if len(components) == 0 {
		return Min, Max
	}
	p := Hash(s, components...)
	return p, p + Max
}

// appendV2 hashes the components together and appends the digits.
func appendV2(dst []byte, components ...Component) []byte {
	var scratch [128]byte
	buf := scratch[:0]
	for _, c := range components {
		buf = c.appendHashed(buf, 0xFF)
	}
	h1, h2 := murmur3.Sum128(buf)
	var sum [16]byte
	binary.BigEndian.PutUint64(sum[:8], h2)
	binary.BigEndian.PutUint64(sum[8:], h1)
	// The two top bits are cleared so that every key sorts below Max.
	sum[0] &= 0x3F
	const digits = "0123456789ABCDEF"
	for _, b := range sum {
		dst = append(dst, digits[b>>4], digits[b&0x0F])
	}
	return dst
}

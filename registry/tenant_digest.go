package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/engine"
)

// setDigest is a digest of documents in any order: the sum of the SHA-256 of
// each, modulo 2^256, with a document's members in the order of their names.
// It tells a loss, a change or a double by accident from none; it is no
// signature, since a writer of documents can make sums meet.
type setDigest [4]uint64

func (d *setDigest) add(document []byte) {
	d.addSum(sha256.Sum256(canonical(document)))
}

func (d *setDigest) addSum(sum [sha256.Size]byte) {
	var one setDigest
	for i := range one {
		one[i] = binary.LittleEndian.Uint64(sum[i*8:])
	}
	d.plus(one)
}

// plus adds the documents of another set.
func (d *setDigest) plus(other setDigest) {
	var carry uint64
	for i := range d {
		d[i], carry = bits.Add64(d[i], other[i], carry)
	}
}

// String is the digest in hexadecimal.
func (d *setDigest) String() string {
	out := make([]byte, 0, sha256.Size)
	for _, word := range d {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return hex.EncodeToString(out)
}

// canonical is a document without the service's members, in a form that does
// not depend on how it was written.
func canonical(document []byte) []byte {
	stored, err := engine.WithoutSystemMembers(document)
	if err != nil {
		return document
	}
	return codec.Canonical(stored, func(string) bool { return false })
}

package store

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
)

// encodeRID writes base64 with '-' for '/', which would break a path.
func encodeRID(raw []byte) string {
	return strings.ReplaceAll(base64.StdEncoding.EncodeToString(raw), "/", "-")
}

func decodeRID(rid string) ([]byte, bool) {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(rid, "-", "/"))
	return raw, err == nil
}

// RIDLength is how many bytes a text stands for as a rid; 0 when it is none.
func RIDLength(text string) int {
	raw, ok := decodeRID(text)
	if !ok {
		return 0
	}
	return len(raw)
}

// scatter maps 1, 2, 3, ... to distinct 23-bit numbers that look as little alike as the service's do.
func scatter(n uint32) uint32 { return n * 0x9E3779 & 0x7FFFFF }

// databaseRID has four bytes.
func databaseRID(n uint32) string {
	return encodeRID(binary.BigEndian.AppendUint32(nil, scatter(n)<<8))
}

// containerRID has the database's four bytes and four more whose top bit is set.
func containerRID(database string, n uint32) string {
	raw, _ := decodeRID(database)
	return encodeRID(binary.BigEndian.AppendUint32(raw, scatter(n)<<8|1<<31))
}

// offerRID has three bytes, of which only those are used that are letters and digits in base64: clients sign the rid in
// lower case and put it unescaped into a path.
func offerRID(n uint32) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	var rid [4]byte
	for i, rest := 0, scatter(n); i < len(rid); i++ {
		rid[i] = digits[rest%uint32(len(digits))]
		rest /= uint32(len(digits))
	}
	return string(rid[:])
}

// userRID has the database's four bytes and four more whose top bit is not set.
func userRID(database string, n uint32) string {
	raw, _ := decodeRID(database)
	return encodeRID(binary.BigEndian.AppendUint32(raw, scatter(n)<<8))
}

// Resources inside a container carry their type in the top four bits of the last eight bytes.
const (
	ridTypeItem  = uint64(0x0)
	ridTypeRange = uint64(0x5)
)

// childRID is the rid of an item or range: the container's eight bytes and the ordinal in little endian.
func childRID(container []byte, kind, ordinal uint64) string {
	raw := make([]byte, 0, 16)
	raw = append(raw, container...)
	return encodeRID(binary.LittleEndian.AppendUint64(raw, ordinal|kind<<60))
}

// itemOrdinal reads the ordinal of an item's rid.
func itemOrdinal(rid string) (uint64, bool) {
	raw, ok := decodeRID(rid)
	if !ok || len(raw) != 16 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(raw[8:]), true
}

// makeETag makes an etag, quotes included, of a number that never repeats in its container and the time of the write.
func makeETag(version uint64, ts int64) string {
	const digits = "0123456789abcdef"
	etag := []byte(`"00000000-0000-0000-0000-000000000000"`)
	put := func(at, length int, n uint64) {
		for i := length - 1; i >= 0; i-- {
			etag[at+i] = digits[n&15]
			n >>= 4
		}
	}
	put(1, 8, version)
	put(10, 4, version>>32)
	put(15, 4, version>>48)
	put(25, 8, uint64(ts))
	return string(etag)
}

// parseETag reads the number back.
func parseETag(etag string, ts int64) (uint64, error) {
	if len(etag) != len(`"00000000-0000-0000-0000-000000000000"`) {
		return 0, errRecord
	}
	version, err := strconv.ParseUint(etag[15:19]+etag[10:14]+etag[1:9], 16, 64)
	if err != nil || makeETag(version, ts) != etag {
		return 0, errRecord
	}
	return version, nil
}

// clientKeyRID is the rid of a client encryption key: the database's four bytes and four more whose top bit is not set.
func clientKeyRID(database string, n uint32) string {
	raw, _ := decodeRID(database)
	return encodeRID(binary.BigEndian.AppendUint32(raw, scatter(n)<<8))
}

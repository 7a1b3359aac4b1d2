package store

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
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
	return fmt.Sprintf(`"%08x-%04x-%04x-0000-%08x0000"`, uint32(version), uint16(version>>32), uint16(version>>48), uint32(ts))
}

// clientKeyRID is the rid of a client encryption key: the database's four bytes and four more whose top bit is not set.
func clientKeyRID(database string, n uint32) string {
	raw, _ := decodeRID(database)
	return encodeRID(binary.BigEndian.AppendUint32(raw, scatter(n)<<8))
}

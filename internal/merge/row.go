package merge

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// Row is a document as it comes from one partition of an ordered query:
//
//	SELECT c._rid AS r, [{"v": c.title}] AS o, c AS d FROM c ORDER BY c.title
//
// The values stand in objects, because an array drops elements that are
// undefined and the ones behind would move up.
type Row[D any] struct {
	Place
	Doc D `json:"d"`
}

// Place is where a document stands in an ordered result.
type Place struct {
	// RID is the service's own id of the document, which settles ties.
	RID string `json:"r"`
	// Sort are the values of the ORDER BY clause.
	Sort []Item `json:"o"`
}

// Item holds one value that may be undefined.
type Item struct {
	Value Value `json:"v,omitzero"`
}

// Order says for each value of a [Place] whether the largest comes first.
type Order []bool

// Compare orders two places. Ties of all values go by the documents' ids, in
// the direction of the first value, as they do within a partition.
func (o Order) Compare(a, b Place) int {
	for i, desc := range o {
		if c := Compare(a.at(i), b.at(i)); c != 0 {
			return direct(c, desc)
		}
	}
	return direct(compareRIDs(a.RID, b.RID), len(o) > 0 && o[0])
}

func (p Place) at(i int) Value {
	if i < len(p.Sort) {
		return p.Sort[i].Value
	}
	return Value{}
}

func direct(c int, desc bool) int {
	if desc {
		return -c
	}
	return c
}

// compareRIDs orders documents as they were made: a resource id ends in eight
// bytes, little endian, that count up within a container.
func compareRIDs(a, b string) int {
	if a == b {
		return 0
	}
	na, okA := ordinal(a)
	nb, okB := ordinal(b)
	if !okA || !okB {
		return strings.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(na, nb), strings.Compare(a, b))
}

func ordinal(rid string) (uint64, bool) {
	var raw [18]byte
	n, err := base64.StdEncoding.Decode(raw[:], []byte(strings.ReplaceAll(rid, "-", "/")))
	if err != nil || n != 16 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(raw[8:]), true
}

package merge

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"reflect"
	"strings"
)

// Row is a document as it comes from one partition of an ordered query:
//
//	SELECT c._rid AS r, [{"v": c.title}] AS o, c AS d FROM c ORDER BY c.title
//
// The values stand in objects, because an array drops elements that are
// undefined and the ones behind would move up.
type Row[D any] struct {
	SortKey
	Doc D `json:"d"`
}

// SortKey is where a document stands in an ordered result.
type SortKey struct {
	// RID is the service's own id of the document, which decides ties.
	RID string `json:"r"`
	// Sort are the values of the ORDER BY clause.
	Sort []Item `json:"o"`
	// Scan is the direction in which the service read its index for the page,
	// which is that of the ids where all values are equal.
	Scan Scan `json:"s,omitzero"`
}

// Scan is a direction in which the service reads an index.
type Scan int8

// The directions. A reply that doesn't tell means that of the first value.
const (
	ScanUnknown Scan = iota
	ScanForward
	ScanReverse
)

// SetScan notes the direction of the page that the row is from.
func (p *SortKey) SetScan(s Scan) { p.Scan = s }

// ReadInto tells the document what it is read into, where it asks for that.
func (r *Row[D]) ReadInto(t reflect.Type) {
	if doc, ok := any(&r.Doc).(interface{ ReadInto(t reflect.Type) }); ok {
		doc.ReadInto(t)
	}
}

// Reset forgets what was read, but not what the document is read into.
func (r *Row[D]) Reset() {
	doc := r.Doc
	*r = Row[D]{}
	if reset, ok := any(&doc).(interface{ Reset() }); ok {
		reset.Reset()
		r.Doc = doc
	}
}

// Item holds one value that may be undefined.
type Item struct {
	Value Value `json:"v,omitzero"`
}

// Order says for each value of a [SortKey] whether the largest comes first.
type Order []bool

// Compare orders two keys. Ties of all values go by the documents' ids, in
// the direction of the index scan, as they do within a partition.
func (o Order) Compare(a, b SortKey) int {
	for i, desc := range o {
		if c := Compare(a.at(i), b.at(i)); c != 0 {
			return direct(c, desc)
		}
	}
	scan := cmp.Or(a.Scan, b.Scan)
	falling := scan == ScanReverse || scan == ScanUnknown && len(o) > 0 && o[0]
	return direct(compareRIDs(a.RID, b.RID), falling)
}

func (p SortKey) at(i int) Value {
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

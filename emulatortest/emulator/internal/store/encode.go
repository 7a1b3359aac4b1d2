package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// errRecord is what restore says of a record that it can't read.
var errRecord = errors.New("the record is malformed")

// resourceRecord is how the journal keeps databases, containers and offers.
type resourceRecord struct {
	Serial uint32          `json:"serial"`
	Body   json.RawMessage `json:"body"`
	// The rest is for containers only.
	Database   string `json:"database,omitempty"`
	NextRange  int    `json:"nextRange,omitempty"`
	Generation uint64 `json:"generation,omitempty"`
	Sequence   uint64 `json:"sequence,omitempty"`
	// Highest is for offers only.
	Highest int `json:"highest,omitempty"`
}

func (r resourceRecord) encode() []byte {
	text, err := json.Marshal(r)
	if err != nil { // a body that was parsed before
		return nil
	}
	return text
}

func encodeResource(serial uint32, r Resource) []byte {
	return resourceRecord{Serial: serial, Body: r.Body}.encode()
}

func encodeOffer(o *offer) []byte {
	return resourceRecord{Serial: o.serial, Body: o.resource.Body, Highest: o.highest}.encode()
}

func encodeContainer(c *Container) []byte {
	return resourceRecord{
		Serial: c.serial, Body: c.resource.Body, Database: c.database.resource.RID,
		NextRange: c.nextRange, Generation: c.generation, Sequence: c.sequence.Load(),
	}.encode()
}

func encodeAccount(serial uint32) []byte { return binary.AppendUvarint(nil, uint64(serial)) }

func decodeAccount(b []byte) (uint32, error) {
	n, used := binary.Uvarint(b)
	if used <= 0 {
		return 0, errRecord
	}
	return uint32(n), nil
}

// flagUnindexed marks an item that queries don't see.
const flagUnindexed = 1

// encodeItem writes flags, LSN and the document; everything else can be read out of the document.
func encodeItem(it *item) []byte { return appendItem(make([]byte, 0, len(it.raw)+12), it) }

func appendItem(dst []byte, it *item) []byte {
	flags := byte(0)
	if it.unindexed {
		flags = flagUnindexed
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(it.lsn))
	return append(dst, it.raw...)
}

func decodeItem(c *Container, ordinal uint64, b []byte) (*item, error) {
	if len(b) < 2 {
		return nil, errRecord
	}
	lsn, used := binary.Uvarint(b[1:])
	if used <= 0 {
		return nil, errRecord
	}
	return c.definition.unseal(b[1+used:], ordinal, int64(lsn), b[0]&flagUnindexed != 0)
}

const flagExpired = 1

// encodeVersion writes flags, LSN, time and both images with their lengths; a missing image has none.
func encodeVersion(v version) []byte {
	flags := byte(0)
	if v.expired {
		flags = flagExpired
	}
	out := binary.AppendUvarint([]byte{flags}, uint64(v.lsn))
	out = binary.AppendVarint(out, v.ts)
	for _, it := range []*item{v.before, v.after} {
		if it == nil {
			out = binary.AppendUvarint(out, 0)
			continue
		}
		image := encodeItem(it)
		out = binary.AppendUvarint(out, uint64(len(image)))
		out = binary.AppendUvarint(out, it.ordinal)
		out = append(out, image...)
	}
	return out
}

func decodeVersion(c *Container, sequence uint64, b []byte) (version, error) {
	r := reader{b: b}
	v := version{sequence: sequence}
	v.expired = r.byte()&flagExpired != 0
	v.lsn = int64(r.uvarint())
	v.ts = r.varint()
	for _, image := range []**item{&v.before, &v.after} {
		length := r.uvarint()
		if length == 0 {
			continue
		}
		ordinal := r.uvarint()
		text := r.take(length)
		if r.bad {
			return v, errRecord
		}
		it, err := decodeItem(c, ordinal, text)
		if err != nil {
			return v, err
		}
		*image = it
	}
	if r.bad || v.before == nil && v.after == nil {
		return v, errRecord
	}
	return v, nil
}

// reader takes a record apart; bad stays set once something did not fit.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	text := r.take(1)
	if r.bad {
		return 0
	}
	return text[0]
}

func (r *reader) uvarint() uint64 {
	n, used := binary.Uvarint(r.b)
	r.skip(used)
	return n
}

func (r *reader) varint() int64 {
	n, used := binary.Varint(r.b)
	r.skip(used)
	return n
}

func (r *reader) skip(used int) {
	if used <= 0 {
		r.bad = true
		return
	}
	r.b = r.b[used:]
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	text := r.b[:n]
	r.b = r.b[n:]
	return text
}

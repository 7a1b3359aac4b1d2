package codec

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Aside says what a top-level member is that the struct does not have.
type Aside uint8

const (
	// Unknown is a member that another program wrote, which must not be lost.
	Unknown Aside = iota
	// Ignored is a member that a database or Grove keeps and sets anew.
	Ignored
	// Marks and Mark are those of earlier writes.
	Marks
	Mark
)

// Extra is what was met in a document beside the members of its struct.
type Extra struct {
	// Unknown says that there are members, at any depth, that the struct does
	// not have.
	Unknown bool
	// Marks and Mark are the JSON of those members; empty for none.
	Marks, Mark string
}

// other deals with a member that the struct does not have. Those of the
// same object so far stand in r.met from first on.
func (r *reader) other(name []byte, top bool, first int) bool {
	kind := Unknown
	if top && r.aside != nil {
		kind = r.aside(name)
	}
	r.space()
	from := r.pos
	if !r.skip(kind == Unknown) {
		return false
	}
	switch kind {
	case Unknown:
		// These are rare, so that there is time to look for names that occur
		// twice, which the library refuses.
		if slices.ContainsFunc(r.met[first:], func(m []byte) bool { return bytes.Equal(m, name) }) || !jsontext.Value(r.data[from:r.pos]).IsValid() {
			return false
		}
		r.met = append(r.met, name)
		r.extra.Unknown = true
	case Marks:
		r.extra.Marks = r.keep(r.data[from:r.pos])
	case Mark:
		r.extra.Mark = r.keep(r.data[from:r.pos])
	case Ignored:
	}
	return true
}

// Reader reads documents one after another. It is used by one goroutine.
type Reader struct {
	r     reader
	aside func(name []byte) Aside
}

// NewReader returns a Reader that asks aside about every top-level member that
// a struct does not have.
func NewReader(aside func(name []byte) Aside) *Reader { return &Reader{aside: aside} }

// Document reads one whole document into v, a pointer.
func (d *Reader) Document(raw []byte, v any) (Extra, error) {
	d.r.data, d.r.pos, d.r.aside = raw, 0, d.aside
	if d.read(v) {
		if d.r.space(); d.r.pos == len(raw) {
			return d.r.extra, nil
		}
	}
	return d.slowly(raw, v)
}

// Value reads one value of any kind into v, a pointer, with all that it holds.
func (d *Reader) Value(raw []byte, v any) error {
	_, err := d.Document(raw, v)
	return err
}

// read reads the value at the reader's place.
func (d *Reader) read(v any) bool {
	d.r.begin()
	into := reflect.ValueOf(v).Elem()
	return planOf(into.Type())(&d.r, into)
}

// slowly leaves a document to the library. A value with a Reset knows what has
// to stay in it.
func (d *Reader) slowly(raw []byte, v any) (Extra, error) {
	into := reflect.ValueOf(v).Elem()
	if value, ok := v.(interface{ Reset() }); ok {
		value.Reset()
	} else {
		into.SetZero()
	}
	if err := Decode(raw, v); err != nil {
		return Extra{}, err
	}
	return d.look(raw, into.Type()), nil
}

// look finds what a document holds beside its struct's members.
func (d *Reader) look(raw []byte, t reflect.Type) Extra {
	var extra Extra
	if d.aside != nil {
		eachMember(raw, func(name string, value jsontext.Value) {
			if _, known := memberOf(t, name); known {
				extra.Unknown = extra.Unknown || hasUnknown(t, name, value)
				return
			}
			switch d.aside([]byte(name)) {
			case Unknown:
				extra.Unknown = true
			case Marks:
				extra.Marks = string(value)
			case Mark:
				extra.Mark = string(value)
			case Ignored:
			}
		})
	}
	return extra
}

// Page reads the documents of a feed page. For each it calls make for a
// pointer to read into, and then take with what came of it: raw is good until
// take returns. One document that can't be read has an error of its own; a
// page that is no page is one. into may return nil for a document that only
// its bytes are wanted of, and take may end the page by returning false.
func (d *Reader) Page(body []byte, into func() any, take func(v any, raw []byte, extra Extra, err error) bool) error {
	malformed := &ValueError{Reason: "the JSON of a page is malformed"}
	d.r.data, d.r.pos = body, 0
	d.r.aside = d.aside
	if !d.r.next('{') {
		return malformed
	}
	for n := 0; ; n++ {
		more, ok := d.r.element(n, '}')
		if !ok {
			return malformed
		}
		if !more {
			return nil
		}
		name, _, ok := d.r.quoted()
		if !ok || !d.r.next(':') {
			return malformed
		}
		if string(name) != "Documents" {
			if !d.r.skip(false) {
				return malformed
			}
			continue
		}
		if stop, ok := d.rows(into, take); !ok || stop {
			if !ok {
				return malformed
			}
			return nil
		}
	}
}

func (d *Reader) rows(into func() any, take func(v any, raw []byte, extra Extra, err error) bool) (stop, ok bool) {
	if !d.r.next('[') {
		return false, d.r.null()
	}
	for n := 0; ; n++ {
		more, ok := d.r.element(n, ']')
		if !ok || !more {
			return false, ok
		}
		d.r.space()
		from := d.r.pos
		v := into()
		if v == nil {
			if !d.r.skip(false) {
				return false, false
			}
			if !take(nil, d.r.data[from:d.r.pos], Extra{}, nil) {
				return true, true
			}
			continue
		}
		if d.read(v) {
			if !take(v, d.r.data[from:d.r.pos], d.r.extra, nil) {
				return true, true
			}
			continue
		}
		d.r.pos = from
		if !d.r.skip(false) {
			return false, false
		}
		raw := d.r.data[from:d.r.pos]
		extra, err := d.slowly(raw, v)
		if !take(v, raw, extra, err) {
			return true, true
		}
	}
}

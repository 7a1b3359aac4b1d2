package engine

import (
	"encoding/json"
	"errors"
	"reflect"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// RowError is a [DecodeError] with what is known of the document.
type RowError struct {
	Header documents.Header
	Err    error
}

func (e *RowError) Error() string { return e.Err.Error() }

func (e *RowError) Unwrap() error { return e.Err }

// Row is a document that is read into a new value, or the error that this row
// alone has. So one malformed document hides no other.
type Row struct {
	Value any // a pointer to the type that the call reads
	Err   error

	into reflect.Type
}

// ReadInto says what the document is read into.
func (r *Row) ReadInto(t reflect.Type) { r.into = t }

// Reset forgets what was read, but not what the document is read into.
func (r *Row) Reset() { *r = Row{into: r.into} }

// UnmarshalJSON reads a row inside another value. It never fails itself.
func (r *Row) UnmarshalJSON(raw []byte) error {
	r.Read(raw, documents.Decode(raw, r.Target()))
	return nil
}

// Target makes the value.
func (r *Row) Target() any {
	r.Value = reflect.New(r.into).Interface()
	return r.Value
}

// Read takes in how the document was read.
func (r *Row) Read(raw []byte, err error) {
	if err != nil {
		r.Value, r.Err = nil, &RowError{Header: documents.ReadHeader(raw), Err: Undecodable(raw, err)}
	}
}

// typed is a row that has to know what it reads.
type typed interface{ ReadInto(t reflect.Type) }

// begin makes rows ready to be read.
func begin[R any](k *Call, rows []R) {
	if len(rows) == 0 {
		return
	}
	if _, isTyped := any(&rows[0]).(typed); !isTyped {
		return
	}
	for i := range rows {
		any(&rows[i]).(typed).ReadInto(k.into())
	}
}

func (k *Call) into() reflect.Type {
	if k.Into != nil {
		return k.Into
	}
	return k.Collection.model.Type
}

// lenient is a row that keeps its error to itself.
type lenient interface {
	Target() any
	Read(raw []byte, err error)
}

// decodePage reads the rows of a feed page.
func decodePage[R any](k *Call, body []byte) ([]R, error) {
	var rows []R
	var failed error
	err := documents.Page(body, func() any {
		rows = append(rows, *new(R))
		begin(k, rows[len(rows)-1:])
		return targetOf(&rows[len(rows)-1])
	}, func(_ any, raw []byte, err error) bool {
		failed = finish(&rows[len(rows)-1], raw, err)
		return failed == nil
	})
	return rows, errors.Join(failed, err)
}

// decodeItems is decodePage for rows that the SDK has taken apart.
func decodeItems[R any](k *Call, items [][]byte) ([]R, error) {
	rows := make([]R, len(items))
	begin(k, rows)
	for i, item := range items {
		if err := decodeInto(&rows[i], item, nil); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// decodeInto reads one row, of which something may be known to be wrong.
func decodeInto(row any, item []byte, err error) error {
	if target := targetOf(row); target != nil && err == nil {
		err = documents.Decode(item, target)
	}
	return finish(row, item, err)
}

// itemsOf takes a feed page apart.
func itemsOf(body []byte) (items [][]byte, err error) {
	err = documents.Page(body, func() any { return nil }, func(_ any, raw []byte, err error) bool {
		items = append(items, append([]byte(nil), raw...))
		return err == nil
	})
	return items, err
}

// targetOf is what a row is read into; nil for one that is taken as it is.
func targetOf(row any) any {
	switch row := row.(type) {
	case lenient:
		return row.Target()
	case *json.RawMessage:
		return nil
	}
	return row
}

func finish(row any, raw []byte, err error) error {
	switch row := row.(type) {
	case lenient:
		row.Read(raw, err)
		return nil
	case *json.RawMessage:
		*row = append(json.RawMessage(nil), raw...)
	}
	return err
}

func readHeader(raw []byte) documents.Header { return documents.ReadHeader(raw) }

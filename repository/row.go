package repository

import (
	"encoding/json"
	"errors"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// row is one row of a result that is read into a T, or the error that this row
// alone has. So one odd document hides no other.
type row[T any] struct {
	value *T
	err   error
}

// UnmarshalJSON reads a row inside another value. It never fails itself.
func (r *row[T]) UnmarshalJSON(raw []byte) error {
	r.value = new(T)
	r.read(raw, documents.Decode(raw, r.value))
	return nil
}

func (r *row[T]) target() any {
	r.value = new(T)
	return r.value
}

func (r *row[T]) read(raw []byte, err error) {
	if err != nil {
		r.value, r.err = nil, &rowError{header: documents.ReadHeader(raw), err: undecodable(raw, err)}
	}
}

// rowError is a [DecodeError] with what is known of the document.
type rowError struct {
	header documents.Header
	err    error
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

// lenient is a row that keeps its error to itself.
type lenient interface {
	target() any
	read(raw []byte, err error)
}

// decodePage reads the rows of a feed page.
func decodePage[R any](body []byte) ([]R, error) {
	var rows []R
	var failed error
	err := documents.Page(body, func() any {
		rows = append(rows, *new(R))
		return targetOf(&rows[len(rows)-1])
	}, func(_ any, raw []byte, err error) bool {
		failed = finish(&rows[len(rows)-1], raw, err)
		return failed == nil
	})
	return rows, errors.Join(failed, err)
}

// decodeItems is decodePage for rows that the SDK has taken apart.
func decodeItems[R any](items [][]byte) ([]R, error) {
	rows := make([]R, len(items))
	for i, item := range items {
		var err error
		if target := targetOf(&rows[i]); target != nil {
			err = documents.Decode(item, target)
		}
		if err := finish(&rows[i], item, err); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// targetOf is what a row is read into; nil for one that is taken as it is.
func targetOf(row any) any {
	switch row := row.(type) {
	case lenient:
		return row.target()
	case *json.RawMessage:
		return nil
	}
	return row
}

func finish(row any, raw []byte, err error) error {
	switch row := row.(type) {
	case lenient:
		row.read(raw, err)
		return nil
	case *json.RawMessage:
		*row = append(json.RawMessage(nil), raw...)
	}
	return err
}

// checkRow refuses a document that does not belong here, also one that can't
// be read.
func (r *Reader[T]) checkRow(row *row[T]) error {
	var unread *rowError
	if errors.As(row.err, &unread) {
		h := unread.header
		return r.repo.core.checkNames(&r.at, h.TenantID, h.EntityType)
	}
	return r.repo.core.check(&r.at, r.repo.meta(row.value))
}

// checkRows is checkRow for a page.
func (r *Reader[T]) checkRows(rows []row[T]) error {
	for i := range rows {
		if err := r.checkRow(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func readHeader(raw []byte) documents.Header { return documents.ReadHeader(raw) }

package repository

import (
	"errors"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
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
	r.Read(raw, documents.Decode(raw, r.value))
	return nil
}

func (r *row[T]) Target() any {
	r.value = new(T)
	return r.value
}

func (r *row[T]) Read(raw []byte, err error) {
	if err != nil {
		r.value, r.err = nil, &engine.RowError{Header: documents.ReadHeader(raw), Err: engine.Undecodable(raw, err)}
	}
}

// checkRow refuses a document that does not belong here, also one that can't
// be read.
func (r *Reader[T]) checkRow(row *row[T]) error {
	var unread *engine.RowError
	if errors.As(row.err, &unread) {
		h := unread.Header
		return r.repo.core().CheckNames(&r.at, h.TenantID, h.EntityType)
	}
	return r.repo.core().Check(&r.at, r.repo.meta(row.value))
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

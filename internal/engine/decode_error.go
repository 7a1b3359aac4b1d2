package engine

import (
	"errors"
	"fmt"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// DecodeError is a stored document that does not fit its entity's struct:
// another writer put a text where a number belongs, or a type was changed. It
// concerns this document alone. Query and Project yield it and go on; Page and
// GetMany return it beside the documents that do fit; First, Get and whatever
// reads one document fail with it. Such a document can be deleted, patched and
// exported.
//
// A row that does not fit is set apart in row.go (Row.Read). What the verbs do with it is
// in repository/page.go (page.take), repository/query_run.go and repository/getmany.go.
type DecodeError struct {
	// ID is the document's id; empty in the rare case that it has none.
	ID string
	// Err says where the document does not fit, by the names of the struct. It
	// quotes nothing of the content.
	Err error
}

// Error names the document and the place.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("document %q can't be read: %s", e.ID, e.Err)
}

// Unwrap returns what does not fit.
func (e *DecodeError) Unwrap() error { return e.Err }

// Undecodable says that a document, or a row about one, can't be read.
func Undecodable(raw []byte, err error) error {
	return &DecodeError{ID: documents.ReadHeader(raw).ID, Err: err}
}

// IsUndecodable reports that one document can't be read.
func IsUndecodable(err error) bool {
	var decode *DecodeError
	return errors.As(err, &decode)
}

// decodeError is an answer that arrived and does not fit; asking again would
// bring the same.
type decodeError struct{ err error }

func (e *decodeError) Error() string { return e.err.Error() }

func (e *decodeError) Unwrap() error { return e.err }

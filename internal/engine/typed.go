package engine

import (
	"encoding/json"
	"log/slog"
)

// ConflictError is a write of an entity that found another version of it. P is
// the entity's pointer.
type ConflictError[P any] struct {
	Current P
	Err     error
}

// Error returns the text of the failed write.
func (e *ConflictError[P]) Error() string { return e.Err.Error() }

// Unwrap returns the failed write's error.
func (e *ConflictError[P]) Unwrap() error { return e.Err }

// MarshalJSON writes the error's text. The document stays out.
func (e *ConflictError[P]) MarshalJSON() ([]byte, error) { return json.Marshal(e.Error()) }

// LogValue is the error's text for package slog.
func (e *ConflictError[P]) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// Page is a part of a result. P is the entity's pointer.
type Page[P any] struct {
	Items  []P
	Cursor string
}

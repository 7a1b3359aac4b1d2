package repository

import "github.com/cosmosgrove/grove/internal/engine"

// Decode reads a stored document, such as the change feed brings, into an
// entity. It fails with [ErrEntityMismatch] when the document is not of this
// entity type, and with a [*DecodeError] when it does not fit the struct.
func (r *Repository[T]) Decode(document []byte) (*T, error) {
	k := engine.Call{Collection: r.core(), Op: "Decode", At: &engine.Partition{All: true, Deleted: true}}
	document, err := r.core().Canonical(document)
	if err != nil {
		return nil, k.Fail(err)
	}
	entity, err := (&Reader[T]{repo: r, at: *k.At}).decode(document)
	return entity, k.Fail(err)
}

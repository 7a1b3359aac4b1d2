package repository

import "github.com/cosmosgrove/grove/internal/engine"

// Decode reads a stored document, such as the change feed brings, into an
// entity. It fails with [ErrEntityMismatch] when the document is not of this
// entity type, and with a [*DecodeError] when it does not fit the struct.
//
//go:noinline
func (r *RepositoryOf[P]) Decode(document []byte) (P, error) {
	return as[P](decode(engine.CollectionOf(&r.handle), document))
}

func decode(c *engine.Collection, document []byte) (any, error) {
	s := scope{c, engine.Partition{All: true, Deleted: true}}
	k := engine.Call{Collection: c, Op: "Decode", At: &s.at}
	document, err := c.Canonical(document)
	if err != nil {
		return nil, k.Fail(err)
	}
	entity, err := s.decode(document)
	return entity, k.Fail(err)
}

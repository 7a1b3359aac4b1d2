package repository

import (
	"context"
	"encoding/json"
	"strconv"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// Write is what a Fill hook sees of one write, of a batch or of a part of a
// bulk. It is for Grove's own packages; its shape may change.
type Write struct {
	// TenantID is the scope's.
	TenantID string
	// Entities are pointers to the repository's type. What is changed in them
	// is stored.
	Entities []any
	// New says of each entity that it is stored only where no document is.
	New []bool
	// Before is the stored document that each entity takes the place of, as
	// JSON; nil where the write has not read it. A new entity has one when it
	// takes the id of a document that was deleted.
	Before []json.RawMessage

	hidden [][]byte
}

// Hide stores a member beside the entity's own, which readers don't see. Its
// name begins with an underscore. It is stored by this write alone: what is to
// stay must be hidden again by the next one.
func (w *Write) Hide(i int, name string, value json.RawMessage) {
	w.hidden[i] = append(append(append(append(w.hidden[i], ','), strconv.Quote(name)...), ':'), value...)
}

// GuardedPath is a member of a document that a patch can't be let change,
// because other members follow from it.
type GuardedPath struct {
	// Path is a field's, as in tenantitem.Field.
	Path string
	// Reason completes "it can't be patched: ", Hint says what to do instead.
	Reason, Hint string
}

// MovedField is the name of a hidden member of a document: the references
// that it had until lately, by field. Whoever counts what refers to a document
// takes them away.
const MovedField = "_moved"

// seeWrites reports whether any hook takes part before a write.
func (h *Hooks) seeWrites() bool { return len(h.BeforeWrite) > 0 || len(h.Fill) > 0 }

type writeKind uint8

const (
	creates writeKind = iota
	replaces
	puts
)

// writeOf describes entities to the hooks.
func writeOf[T any](tenant string, entities []*T) *Write {
	w := &Write{
		TenantID: tenant, Entities: make([]any, len(entities)), New: make([]bool, len(entities)),
		Before: make([]json.RawMessage, len(entities)), hidden: make([][]byte, len(entities)),
	}
	for i, e := range entities {
		w.Entities[i] = e
	}
	return w
}

// beforeWrite lets hooks see entities before they are encoded.
func (s *Scope[T]) beforeWrite(ctx context.Context, w *Write) error {
	for _, hook := range s.repo.core.hooks.BeforeWrite {
		if err := hook(ctx, w.TenantID, w.Entities); err != nil {
			return err
		}
	}
	for _, hook := range s.repo.core.hooks.Fill {
		if err := hook(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// beforeOne is beforeWrite for a write of one entity; it returns the hidden
// members.
func (s *Scope[T]) beforeOne(ctx context.Context, entity *T, kind writeKind, before []byte) ([]byte, error) {
	if !s.repo.core.hooks.seeWrites() {
		return nil, nil
	}
	w := writeOf(s.at.tenant, []*T{entity})
	w.New[0], w.Before[0] = kind == creates, before
	err := s.beforeWrite(ctx, w)
	return w.hidden[0], err
}

func (s *Scope[T]) afterWrite(ctx context.Context, created bool, entities ...*T) error {
	hooks := s.repo.core.hooks.AfterWrite
	if len(hooks) == 0 || len(entities) == 0 {
		return nil
	}
	erased := make([]any, len(entities))
	for i, e := range entities {
		erased[i] = e
	}
	for _, hook := range hooks {
		if err := hook(ctx, s.at.tenant, erased, created); err != nil {
			return &foreignError{err}
		}
	}
	return nil
}

// written carries the answer of a write back into the entity. The answer has
// no timestamp, so the old one would be a lie.
func (s *Scope[T]) written(entity *T, etag string, body []byte) {
	meta := s.repo.meta(entity)
	meta.ETag, meta.TS = etag, 0
	documents.Wrote(entity, body)
}

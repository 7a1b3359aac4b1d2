package engine

import (
	"encoding/json"
	"slices"
	"strconv"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// Write is what a [Filler] sees of one write, of a batch or of a part of a
// bulk.
type Write struct {
	// TenantID is the scope's.
	TenantID string
	// Entities are pointers to the repository's type. What is changed in them
	// is stored.
	Entities []any
	// New says of each entity that it is stored only where no document is.
	New []bool
	// Before is the stored document that each entity takes the place of, as
	// JSON in Grove's form; nil where the write has not read it. A new entity has one when it
	// takes the id of a document that was deleted.
	Before []json.RawMessage

	Hidden [][]byte
}

// Hide stores a member beside the entity's own, which readers don't see. Its
// name begins with an underscore. It is stored by this write alone: what is to
// stay must be hidden again by the next one.
func (w *Write) Hide(i int, name string, value json.RawMessage) {
	w.Hidden[i] = append(append(append(append(w.Hidden[i], ','), strconv.Quote(name)...), ':'), value...)
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
// that it had until lately, by field. The keeper of copies
// takes them away once it has counted the former targets again.
const MovedField = documents.Moved

// WriteKind says what a write does with what is stored.
type WriteKind uint8

// What a write does: it makes a document, replaces one whose version it knows,
// or overwrites whatever is there.
const (
	Creates WriteKind = iota
	Replaces
	Overwrites
)

// WriteOf describes entities to the hooks.
func WriteOf(tenant string, entities []any) *Write {
	return &Write{
		TenantID: tenant, Entities: slices.Clone(entities), New: make([]bool, len(entities)),
		Before: make([]json.RawMessage, len(entities)), Hidden: make([][]byte, len(entities)),
	}
}

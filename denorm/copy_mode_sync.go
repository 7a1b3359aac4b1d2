package denorm

import (
	"encoding/json"

	"github.com/cosmosgrove/grove/internal/engine"
)

// syncMode follows: the copy is what its source says. What a change of the source does, and why
// an older one can't overwrite a newer, is in follow.go.
type syncMode struct{}

func (syncMode) check(tag tagOf, typ *entityType) error {
	if typ.isKey(tag.f) {
		return refuse(tag, "it is part of the partition key, which can't follow a change", "make it a snapshot, or another field the key")
	}
	return nil
}

func (syncMode) follows() bool   { return true }
func (syncMode) remembers() bool { return false }

func (syncMode) written(c copied, s *entityHolder, source *engine.Document) (json.RawMessage, bool) {
	switch {
	case source != nil:
		return c.wants(source), true
	case s.ref != "":
		return nil, false // its source is gone; what was copied stays
	}
	return c.empty, true
}

func (syncMode) stored(c copied, _ holder, source *engine.Document) (want json.RawMessage, unset, ok bool) {
	if source == nil {
		return c.empty, false, true
	}
	return c.wants(source), false, true
}

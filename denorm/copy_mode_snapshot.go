package denorm

import (
	"encoding/json"

	"github.com/cosmosgrove/grove/internal/engine"
)

// snapshotMode records what was true when the reference was written, and never
// changes.
type snapshotMode struct{}

func (snapshotMode) check(tagOf, *entityType) error { return nil }
func (snapshotMode) follows() bool                  { return false }
func (snapshotMode) remembers() bool                { return true }

func (snapshotMode) written(c copied, s *entityHolder, source *engine.Document) (json.RawMessage, bool) {
	switch {
	case s.before != nil:
		raw := s.before.members[c.field.Name]
		_, err := c.canonical(raw)
		return raw, err == nil // what another writer left there may not fit
	case source != nil:
		return c.wants(source), true
	}
	return c.empty, true
}

func (snapshotMode) stored(c copied, in holder, source *engine.Document) (want json.RawMessage, unset, ok bool) {
	if raw := in.members[c.field.Name]; raw != nil {
		// What it holds was true when it was written; what does not fit was not
		// written by Grove, and comparing it tells of that.
		_, err := c.canonical(raw)
		return nil, false, err != nil
	}
	if source == nil {
		return nil, false, false
	}
	return c.wants(source), true, true
}

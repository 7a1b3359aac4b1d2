package engine

import documents "github.com/cosmosgrove/grove/internal/document"

// Journal is what a delete that spans partitions leaves in a document until it
// is finished.
type Journal struct {
	// Phase says how far the delete is.
	Phase string `json:"phase"`
	// TTL is what the document's ttl was before; 0 is none.
	TTL int `json:"ttl,omitempty"`
	// Run is the id of the delete that this belongs to. All that one delete
	// hides has the same, and its restore and its purge go by it.
	Run string `json:"run,omitempty"`
	// RolledBack is the run that was rolled back last. It stays in a document that
	// is there again, so that a late step of that run finds itself refused.
	RolledBack string `json:"undone,omitempty"`
	// Refused says why the run was, or is being, rolled back; empty where a restore
	// did that.
	Refused string `json:"refused,omitempty"`
	// Confirmed is what the delete may take at most, by entity type, where a person was shown a
	// plan; see [Deletion].
	Confirmed map[string]int64 `json:"shown,omitempty"`
	// Joins is the run of a delete above this document that has ended. What this one leaves
	// belongs to it, and comes back with it. Kept is for how many seconds it is left, where Until is unknown.
	Joins string `json:"joins,omitempty"`
	Kept  int    `json:"kept,omitempty"`
	// Until is up to when what the run hides can be restored, by the service's clock, in
	// Unix seconds; 0 is unknown. It stands in the document that the delete began with, and
	// while the delete is under way in those on the way to its descendants.
	Until int64 `json:"until,omitempty"`
	// Sessions say how far the last run had come when it ended, in the document
	// that it began with; see [SessionsOf].
	Sessions []string `json:"sessions,omitempty"`
}

// JournalField is the name of the journal in a stored document. It stands beside
// the entity's own fields, like the marks of writes.
const JournalField = documents.Deletion

// MovingField is the name of a member that a child has while it moves: its former
// parent, to which it may have to go back.
const MovingField = documents.Moving

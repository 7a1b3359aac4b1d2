package parented

import "github.com/cosmosgrove/grove/internal/engine"

// What is stored of a delete that is not finished: each document that it has reached keeps a
// journal in the member _deletion, with the phase, the id of the run, the ttl that the document
// had, and what the end of the delete needs to know (hidden, below, writes it for delete.go); the members are those of Journal in
// internal/engine/journal.go. The phases and what changes them are here. The
// document's ttl is set to -1 meanwhile, so that it can't expire with its
// journal, and tells a delete under way from what a finished one left. Nothing else is
// stored: Forest.Resume (resume.go) finds unfinished deletes by these members and ends them, and so does
// a repeated Delete (tryDelete in delete.go).
const (
	// phaseDeciding: below the document it is being found out whether Restrict
	// forbids the delete. It becomes phaseRemoving or phaseRollingBack.
	phaseDeciding = "deciding"
	// phaseRollingBack: Restrict forbids the delete; it is being rolled back. The
	// refusal is written before anything is unhidden, so that of two
	// processes that decide the same delete the later one follows the earlier.
	phaseRollingBack = "reopening"
	// phaseRemoving: the delete is going to be finished.
	phaseRemoving = "removing"
	// phasePurging: as removing, of a document that was deleted softly.
	phasePurging = "purging"
	// phaseReturning: a child is to be restored if its parent is there. It
	// becomes phaseRestoring or phaseRetained again. A delete of the parent that begins
	// now meets the child and waits for that.
	phaseReturning = "returning"
	// phaseRestoring: descendants are being brought back.
	phaseRestoring = "restoring"
	// phaseDescendant: the document goes with one above it.
	phaseDescendant = "part"
	// phaseRetained: deleted softly; the journal only keeps the former ttl.
	phaseRetained = "retained"

	neverExpires = -1
)

// begun reports whether a delete, purge or restore began with that very
// document and has not ended.
func begun(s engine.Document) bool {
	return underWay(s, phaseDeciding, phaseRollingBack, phaseRemoving, phasePurging, phaseReturning, phaseRestoring)
}

// present finds the documents that are not deleted, or not yet finished.
func present() engine.Query {
	return engine.SQL(`NOT IS_DEFINED(c["deletedAt"]) OR c["ttl"] = -1`)
}

// isRetained says that a delete is done with the document.
func isRetained(s engine.Document) bool {
	return s.DeletedAt != "" && s.TTL != neverExpires && phaseOf(s) == phaseRetained
}

// hidden starts the journal of a document that is not deleted.
func hidden(s engine.Document, now, run, phase string) engine.Document {
	journal := engine.Journal{Phase: phase, TTL: s.TTL, Run: run}
	if s.Journal != nil {
		journal.RolledBack, journal.Refused, journal.Sessions = s.Journal.RolledBack, s.Journal.Refused, s.Journal.Sessions
	}
	s.Journal = &journal
	s.DeletedAt, s.TTL, s.Moving = now, neverExpires, ""
	return s
}

// inPhase moves a journal on.
func inPhase(s engine.Document, phase string) engine.Document {
	journal := engine.Journal{}
	if s.Journal != nil {
		journal = *s.Journal
	}
	journal.Phase = phase
	s.Journal, s.TTL = &journal, neverExpires
	return s
}

// unhidden ends a journal, and leaves the run that was rolled back.
func unhidden(s engine.Document) engine.Document {
	run := runOf(s)
	s.TTL = 0
	if s.Journal != nil {
		s.TTL = s.Journal.TTL
	}
	s.DeletedAt, s.Journal = "", &engine.Journal{RolledBack: run}
	return s
}

func underWay(s engine.Document, phases ...string) bool {
	if s.DeletedAt == "" || s.Journal == nil || s.TTL != neverExpires {
		return false
	}
	for _, phase := range phases {
		if s.Journal.Phase == phase {
			return true
		}
	}
	return false
}

func phaseOf(s engine.Document) string {
	if s.Journal == nil {
		return ""
	}
	return s.Journal.Phase
}

// runOf returns the run that a document is hidden by. A journal that was
// written before runs had ids goes by its time.
func runOf(s engine.Document) string {
	if s.Journal != nil && s.Journal.Run != "" {
		return s.Journal.Run
	}
	return s.DeletedAt
}

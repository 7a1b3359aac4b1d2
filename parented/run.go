package parented

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A run is one delete, from its first write until what it hid is gone for good or is
// rolled back. Its id stands in the journal of every document that it hides, and
// decides what belongs together; the time of a delete decides nothing.
//
// What a restore or a refusal brings back keeps the id as RolledBack. A process
// that is late with a step of that run either holds an etag from before, which
// the database refuses, or sees that the run is over for that document.

func newRun() (string, error) { return tenantitem.NewID() }

func sameRun(a, b engine.Document) bool { return runOf(a) == runOf(b) }

// rolledBack reports whether the run that hid root is rolled back, or being rolled
// back, as far as this document tells.
func rolledBack(s, root engine.Document) bool {
	if s.Journal != nil && s.Journal.RolledBack != "" && s.Journal.RolledBack == runOf(root) {
		return true
	}
	return sameRun(s, root) && underWay(s, phaseRestoring, phaseRollingBack)
}

// ofRun is the condition on what the run that hid root hides, over @run.
func ofRun(root engine.Document) string {
	run := memberSQL(engine.JournalField + ".run")
	if root.Journal != nil && root.Journal.Run != "" {
		return run + " = @run"
	}
	return `c["deletedAt"] = @run AND NOT IS_DEFINED(` + run + ")"
}

// notRolledBack leaves out what the run that hid root was rolled back from.
func notRolledBack(q engine.Query, root engine.Document) engine.Query {
	field := memberSQL(engine.JournalField + ".undone")
	return q.AndSQL("NOT IS_DEFINED("+field+") OR "+field+" != @undone", engine.P("undone", runOf(root)))
}

// sessions say how far this process has seen the containers of an entity type and
// of all below it.
func (n *node) sessions() []string {
	return engine.SessionsOf(n.below(nil)...)
}

func (n *node) below(list []*engine.Collection) []*engine.Collection {
	list = append(list, n.Collection)
	for _, r := range n.children {
		list = r.child.below(list)
	}
	return list
}

// sinceLastRun lets reads see what the last run of this document wrote, in
// whatever process and partition, and what this process has seen through any
// repository of the tree: a list of descendants from a replica that is behind
// lacks those that were made, hidden or brought back last.
func (n *node) sinceLastRun(ctx context.Context, root engine.Document) context.Context {
	if root.Journal != nil {
		ctx = repository.WithSession(ctx, root.Journal.Sessions...)
	}
	return repository.WithSession(ctx, n.sessions()...)
}

package parented

import (
	"context"
	"math"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
)

// retention says what a delete leaves of the documents that it is done with.
type retention struct {
	forest *Forest
	// soft says that what is deleted together can be restored: at and run are the same in
	// all of it. It is kept for so long from now on, which is until then by the service's
	// clock; 0 where that is unknown.
	soft    bool
	at, run string
	keep    time.Duration
	until   int64
	// joined says that a delete above had ended before.
	joined bool
}

// retentionOf follows the policy of the document that the delete began with: what
// is below a document that can be restored can be restored with it. A purge
// keeps nothing to be restored, but it leaves the tombstones of every entity type
// that has them: a reader of the change feed gets the latest version of a
// document only, and may not have seen the soft delete before the purge.
//
// No process's clock counts here: how long a delete has taken, and a process that
// died in it was away, tells the service's time at the last read of root.
func (f *Forest) retentionOf(n *node, root engine.Document) retention {
	begun := engine.Journal{}
	if root.DeletedAt != "" && root.Journal != nil {
		begun = *root.Journal
	}
	switch {
	case begun.Phase == phasePurging:
		return retention{forest: f}
	case begun.Joins != "":
		rest := retention{forest: f, soft: true, at: root.DeletedAt, run: begun.Joins, keep: time.Duration(begun.Kept) * time.Second, until: begun.Until, joined: true}
		if begun.Until != 0 && root.ReadAt != 0 {
			rest.keep = keptUntil(root) + restoreSpan
		}
		return rest
	case n.policy.Retain == 0:
		return retention{forest: f}
	}
	rest := retention{forest: f, soft: true, at: root.DeletedAt, run: runOf(root), keep: n.retainFor(), until: n.restorableUntil(root)}
	if begun.Until != 0 && root.ReadAt != 0 {
		rest.until = begun.Until
		rest.keep = keptUntil(root)
	}
	return rest
}

// retainFor is how long a document can be restored, which is its tombstone too.
func (n *node) retainFor() time.Duration { return max(n.policy.Retain, n.policy.Tombstone) }

// restorable reports whether a delete that takes such a document can be restored.
func (n *node) restorable() bool {
	return n.policy.Retain > 0 || n.parent != nil && n.parent.rule == Cascade && n.parent.parent.restorable()
}

// restorableUntil is up to when a document can be restored whose delete begins now, by
// the service's clock; 0 is unknown, or never.
func (n *node) restorableUntil(s engine.Document) int64 {
	if n.policy.Retain == 0 || s.ReadAt == 0 {
		return 0
	}
	return s.ReadAt + int64(seconds(n.retainFor()))
}

// isPast says that a document is there still which can't be restored any more: its
// delete took so long, and what was deleted with it may be gone.
func isPast(s engine.Document) bool {
	return s.Journal.Until != 0 && s.ReadAt > s.Journal.Until
}

// finish leaves of documents what is to be left, and returns how many of them were still
// there unchanged. The journal is added to theirs.
func (r retention) finish(ctx context.Context, n *node, outlines []engine.Document, keep time.Duration, journal engine.Journal) (int, error) {
	var done []engine.Document
	var err error
	switch {
	case r.soft:
		ttl := seconds(max(keep, n.policy.Tombstone)) // it is the tombstone too
		journal.Phase, journal.Run = phaseRetained, r.run
		done, err = n.Edit(ctx, outlines, func(s engine.Document) engine.Document { return retained(s, r.at, ttl, journal) })
	case n.policy.Tombstone > 0:
		now := r.forest.now()
		done, err = n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
			s.DeletedAt, s.TTL, s.Journal = now, seconds(n.policy.Tombstone), nil
			return s
		})
	default:
		done, err = n.Remove(ctx, outlines)
	}
	return len(done), err
}

// restoreSpan is how much longer descendants are kept than the document that
// they are restored with: a restore in the last moment, or one that dies and is
// taken up within this time, still finds all of them.
const restoreSpan = time.Hour

// finishDescendants does it to descendants. However long the delete takes, they outlive the time up to
// which the document can be restored that it began with: they are hidden after that was
// read, and keep is counted from there. By itself one of them can be restored up to the same time: after it,
// what was below may be gone.
func (r retention) finishDescendants(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	return r.finish(ctx, n, outlines, r.keep+restoreSpan, engine.Journal{Until: r.until})
}

// finishRoot does it to the document that the delete began with. It is kept from when that
// began, however late a process that died was taken up, and longer only by what
// this process took: isPast tells.
func (r retention) finishRoot(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	if r.joined {
		return r.finish(ctx, n, outlines, r.keep, engine.Journal{Until: r.until})
	}
	return r.finish(ctx, n, outlines, r.keep, engine.Journal{Until: r.until, Sessions: n.sessions()})
}

// retained is a document that was deleted softly. Its journal keeps the ttl
// that it had.
func retained(s engine.Document, at string, ttl int, journal engine.Journal) engine.Document {
	journal.TTL = s.TTL
	if s.Journal != nil {
		journal.RolledBack, journal.Refused = s.Journal.RolledBack, s.Journal.Refused
		if s.DeletedAt != "" {
			journal.TTL = s.Journal.TTL
		}
	}
	s.DeletedAt, s.TTL, s.Journal, s.Moving = at, ttl, &journal, ""
	return s
}

// seconds is a duration as the service counts it: at least one, and no more
// than it can hold.
func seconds(d time.Duration) int {
	return int(min(max(1, (d+time.Second-1)/time.Second), math.MaxInt32))
}

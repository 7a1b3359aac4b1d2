package parented

import (
	"context"
	"math"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
)

// remains says what a delete leaves of the documents that it is done with.
type remains struct {
	forest *Forest
	// at and retain keep everything that is deleted together restorable; a
	// retain of 0 doesn't.
	at     string
	run    string
	retain time.Duration
	// joined says that a delete above had ended before.
	joined bool
}

// remains follows the policy of the document that the delete began with: what
// is below a document that can be restored can be restored with it. A purge
// keeps nothing to be restored, but it leaves the tombstones of every entity type
// that has them: a reader of the change feed gets the latest version of a
// document only, and may not have seen the soft delete before the purge.
func (f *Forest) remains(n *node, root engine.Document) remains {
	if root.Deletion != nil && root.Deletion.Phase == phasePurging {
		return remains{forest: f}
	}
	if root.Deletion != nil && root.Deletion.Joins != "" {
		return remains{forest: f, at: root.DeletedAt, run: root.Deletion.Joins, retain: time.Duration(root.Deletion.Kept) * time.Second, joined: true}
	}
	return remains{forest: f, at: root.DeletedAt, run: runOf(root), retain: n.policy.Retain}
}

func (r remains) leave(ctx context.Context, n *node, outlines []engine.Document, keep time.Duration, sessions []string) (int, error) {
	var done []engine.Document
	var err error
	switch {
	case r.retain > 0:
		ttl := seconds(max(keep, n.policy.Tombstone)) // it is the tombstone too
		done, err = n.Edit(ctx, outlines, func(s engine.Document) engine.Document { return retained(s, r.at, r.run, ttl, sessions) })
	case n.policy.Tombstone > 0:
		now := r.forest.now()
		done, err = n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
			s.DeletedAt, s.TTL, s.Deletion = now, seconds(n.policy.Tombstone), nil
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

// of leaves of descendants what is to be left, and returns how many of them
// were still there unchanged.
func (r remains) of(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	return r.leave(ctx, n, outlines, r.retain+restoreSpan, nil)
}

// ofRoot does the same to the document that the delete began with. It is kept
// from when it was deleted, however late a process that died was taken up:
// what is below it may have been kept from then on too.
func (r remains) ofRoot(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	if r.joined {
		return r.leave(ctx, n, outlines, r.retain, nil)
	}
	keep := r.retain
	if at, err := time.Parse(time.RFC3339Nano, r.at); err == nil {
		keep -= max(0, r.forest.cfg.Now().Sub(at))
	}
	return r.leave(ctx, n, outlines, keep, n.sessions())
}

// retained is a document that was deleted softly. Its journal keeps the ttl
// that it had.
func retained(s engine.Document, at, run string, ttl int, sessions []string) engine.Document {
	journal := engine.Journal{Phase: phaseRetained, TTL: s.TTL, Run: run, Sessions: sessions}
	if s.Deletion != nil {
		journal.Undone, journal.Refused = s.Deletion.Undone, s.Deletion.Refused
		if s.DeletedAt != "" {
			journal.TTL = s.Deletion.TTL
		}
	}
	s.DeletedAt, s.TTL, s.Deletion, s.Moving = at, ttl, &journal, ""
	return s
}

// seconds is a duration as the service counts it: at least one, and no more
// than it can hold.
func seconds(d time.Duration) int {
	return int(min(max(1, (d+time.Second-1)/time.Second), math.MaxInt32))
}

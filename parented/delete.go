package parented

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// delete applies the rules to one document and removes it. It is what every
// repository of the forest calls for its Delete. The steps, in their order: begin
// hides the document, decide (restrict.go) looks whether Restrict forbids it, the
// walk of removal (walk.go) hides descendants from the top down and removes them
// from the bottom up, last removes the document. doc.go says why, and what a delete
// stores until it is finished is in journal.go.
func (f *Forest) delete(ctx context.Context, n *node, d engine.Deletion) error {
	var lost lostAttempt
	for attempts := 0; ; attempts++ {
		root, done, err := f.tryDelete(ctx, n, d, lost)
		switch {
		case done:
			return err
		case lost.err != nil && errors.Is(err, repository.ErrNotFound):
			return nil // it wanted no more
		case errors.Is(err, repository.ErrAmbiguous):
			lost = lostAttempt{err, root.ETag}
		case err != nil && lost.err != nil:
			return unfinished("delete", errors.Join(lost.err, err))
		case err != nil:
			return err
		}
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return errors.Join(lost.err, err)
		}
	}
}

// lostAttempt is one that may have taken effect, and the version of the document that it was about. Where another
// is there since, the delete may have ended, and that be a new document of the id.
type lostAttempt struct {
	err  error
	etag string
}

// tryDelete is one attempt. It reports false where the document has changed since it
// was read, or another attempt has to tell what became of this one.
func (f *Forest) tryDelete(ctx context.Context, n *node, d engine.Deletion, lost lostAttempt) (root engine.Document, done bool, err error) {
	root, err = n.Outline(ctx, d.TenantID, d.Key, d.ID)
	if err != nil {
		return root, false, err
	}
	done, err = f.deleteOutlined(ctx, n, d, root, lost)
	return root, done, err
}

// deleteOutlined is tryDelete of a document as it was read.
func (f *Forest) deleteOutlined(ctx context.Context, n *node, d engine.Deletion, root engine.Document, lost lostAttempt) (done bool, err error) {
	switch {
	case underWay(root, phaseDeciding, phaseRemoving, phasePurging):
		err := f.carryOut(ctx, n, d.TenantID, root)
		if isPlanChanged(err) && !maps.Equal(d.Confirmed, root.Journal.Confirmed) {
			return false, nil // that was another caller's plan
		}
		return true, unfinished("delete", err)
	case underWay(root, phaseRollingBack):
		err := f.rollBack(ctx, n, d.TenantID, root)
		return err != nil, err
	case root.DeletedAt != "":
		return false, repository.ErrNotFound
	case lost.err != nil && root.ETag != lost.etag:
		return true, unfinished("delete", lost.err)
	case d.ETag != "" && root.ETag != d.ETag:
		return false, repository.ErrPreconditionFailed
	case root.Moving != "" && n.parent != nil && n.restricts():
		// The delete may be refused, and then the child must be where its parent is.
		_, err := f.finishMove(ctx, n, d.TenantID, root)
		return err != nil, err
	case len(n.children) == 0:
		return f.deleteLeaf(ctx, n, root)
	}
	if err := f.refuseDuplicateParents(ctx, n, d.TenantID, root); err != nil {
		return false, err
	}
	return f.deleteTree(ctx, n, d, root)
}

// deleteLeaf removes a document of an entity type without children: one write. It
// reports false when the document changed meanwhile.
func (f *Forest) deleteLeaf(ctx context.Context, n *node, leaf engine.Document) (bool, error) {
	run, err := newRun()
	if err != nil {
		return false, err
	}
	rest := f.retentionOf(n, leaf)
	rest.at, rest.run = f.now(), run
	done, err := rest.finishRoot(ctx, n, []engine.Document{leaf})
	return done == 1, err
}

// deleteTree hides a document and removes it with its descendants. It reports
// false when the document changed before it was hidden.
func (f *Forest) deleteTree(ctx context.Context, n *node, d engine.Deletion, root engine.Document) (bool, error) {
	begun, err := f.begin(ctx, n, d, root)
	if err != nil || len(begun) == 0 {
		return false, err
	}
	return true, unfinished("delete", f.carryOut(ctx, n, d.TenantID, begun[0]))
}

// begin hides a document: the first write of a run. Without a result it changed meanwhile.
func (f *Forest) begin(ctx context.Context, n *node, d engine.Deletion, root engine.Document) ([]engine.Document, error) {
	tenant, phase := d.TenantID, phaseRemoving
	if d.Confirmed != nil {
		now, err := f.planOf(ctx, n, tenant, root)
		if err == nil {
			err = now.Exceeds(d.Confirmed)
		}
		if err != nil {
			return nil, err
		}
		phase = phaseDeciding
	}
	if n.restricts() {
		// Most refusals are seen here, before anything was changed.
		counts := map[string]int64{}
		if err := f.countRestricting(ctx, n, tenant, []engine.Document{root}, counts); err != nil {
			return nil, err
		}
		if len(counts) > 0 {
			return nil, &ChildrenError{Counts: counts}
		}
		phase = phaseDeciding
	}
	now := f.now()
	run, err := newRun()
	if err != nil {
		return nil, err
	}
	return n.Edit(ctx, []engine.Document{root}, func(s engine.Document) engine.Document {
		s = hidden(s, now, run, phase)
		s.Journal.Until = n.restorableUntil(root)
		s.Journal.Confirmed = d.Confirmed
		return s
	})
}

func (f *Forest) now() string { return f.cfg.Now().UTC().Format(time.RFC3339Nano) }

// carryOut finishes a delete or a purge that is in root's journal, of this process or
// another: it decides where that is not decided, removes what is below root, and
// root last.
func (f *Forest) carryOut(ctx context.Context, n *node, tenant string, root engine.Document) error {
	ctx = n.sinceLastRun(ctx, root)
	if root.Journal.Phase == phaseDeciding {
		decided, err := f.decide(ctx, n, tenant, root)
		if errors.Is(err, errEnded) {
			return nil
		}
		if err != nil {
			return err
		}
		root = decided
	}
	rest := f.retentionOf(n, root)
	if err := f.removal(tenant, root, rest).descend(ctx, n, []engine.Document{root}); err != nil {
		return err
	}
	if err := f.last(ctx, n, tenant, root, rest.finishRoot); err != nil || !rest.joined {
		return err
	}
	return f.endJoin(ctx, n, tenant, root)
}

// last changes the document that something began with, as its end.
func (f *Forest) last(ctx context.Context, n *node, tenant string, root engine.Document, what func(context.Context, *node, []engine.Document) (int, error)) error {
	for attempts := 0; ; attempts++ {
		done, err := what(ctx, n, []engine.Document{root})
		if done == 1 || err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return err
		}
		again, err := n.Outline(ctx, tenant, f.given(n, root), root.ID)
		switch {
		case errors.Is(err, repository.ErrNotFound):
			return nil
		case err != nil:
			return err
		case !sameRun(again, root) || !underWay(again, root.Journal.Phase):
			// Finished by another process, and perhaps rolled back. A document without the
			// id of this run may be a new one under the same id: what was deleted before
			// it is not its own.
			if rolledBack(again, root) {
				return f.unhideLate(ctx, n, tenant, []engine.Document{root}, runOf(root))
			}
			// A create would have ended the delete first. What is there by the same create was written over: an import brings its mark.
			if again.DeletedAt == "" && (again.CreatedBy == "" || again.CreatedBy == root.CreatedBy) && underWay(root, phaseRemoving, phasePurging) {
				return errWrittenOver
			}
			// A purge never goes back: what can be restored again by the same run was imported.
			if sameRun(again, root) && isRetained(again) && underWay(root, phasePurging) {
				return errWrittenOver
			}
			return nil
		}
		root = again
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return err
		}
	}
}

// given returns what In takes beside the tenant.
func (f *Forest) given(n *node, s engine.Document) []any { return n.GivenOf(s.Key) }

// removal is the walk that takes everything below a document away.
func (f *Forest) removal(tenant string, root engine.Document, rest retention) *walk {
	which := notRolledBack(present(), root)
	if root.Journal != nil && root.Journal.Phase == phasePurging {
		// By its journal too: what the purge leaves of a document has none, and
		// could have been given the very time of the soft delete.
		which = engine.SQL(`NOT IS_DEFINED(c["deletedAt"]) OR c["ttl"] = -1 OR (`+ofRun(root)+") AND "+memberSQL(engine.JournalField+".phase")+" = @phase",
			engine.P("run", runOf(root)), engine.P("phase", phaseRetained))
	}
	decided := root.Journal != nil && root.Journal.Phase == phaseRemoving
	return &walk{
		forest: f, tenant: tenant, which: which, removes: true, purges: root.Journal != nil && root.Journal.Phase == phasePurging, decided: decided, run: runOf(root), confirmed: decided && root.Journal.Confirmed != nil,
		beforeChildren: func(ctx context.Context, n *node, outlines []engine.Document) ([]engine.Document, error) {
			if decided && n.restricts() {
				if err := f.refuseLate(ctx, n, tenant, outlines); err != nil {
					return nil, err
				}
			}
			return f.hideDescendants(ctx, n, outlines, root)
		},
		afterChildren: func(ctx context.Context, r *relation, outlines []engine.Document) (int, error) {
			if r.rule == Orphan {
				return f.clearParents(ctx, r.child, outlines)
			}
			return rest.finishDescendants(ctx, r.child, outlines)
		},
	}
}

// hideDescendants hides documents, which are about to be removed with one above
// them, so that they take no new children.
func (f *Forest) hideDescendants(ctx context.Context, n *node, outlines []engine.Document, root engine.Document) ([]engine.Document, error) {
	var visible, already []engine.Document
	for _, s := range outlines {
		if s.DeletedAt == "" {
			visible = append(visible, s)
		} else {
			already = append(already, s)
		}
	}
	done, err := n.Edit(ctx, visible, func(s engine.Document) engine.Document {
		s = hidden(s, root.DeletedAt, runOf(root), phaseDescendant)
		if root.Journal != nil && root.Journal.Phase != phasePurging {
			s.Journal.Until = root.Journal.Until
		}
		return s
	})
	return append(already, done...), err
}

// clearParents takes the parent away from children that stay.
func (f *Forest) clearParents(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	done, err := n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
		s.ParentID = ""
		return s
	})
	return len(done), err
}

package parented

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// restore brings back a document that was deleted softly and what was deleted
// with it. The document itself comes last, so that until then the restore can
// be taken up by any process. Which children those are, the id of the delete's
// run says (run.go): unhideBelow (rollback.go) finds them by it. A child that was deleted by itself before has
// another run, and stays deleted.
func (f *Forest) restore(ctx context.Context, n *node, d engine.Deletion) error {
	phase := phaseRestoring
	if n.parent != nil {
		phase = phaseReturning
	}
	root, err := f.enterPhase(ctx, n, d, phase, func(root engine.Document) error {
		if root.Journal.Phase == phasePurging || root.Journal.Phase == phaseRetained && isPast(root) {
			return repository.ErrNotFound // parts of its tree may be gone for good
		}
		if underWay(root, phaseReturning, phaseRestoring) {
			return nil // the restore under way decides
		}
		return f.parentAlive(ctx, n, d.TenantID, root)
	})
	if err != nil {
		return err
	}
	return unfinished("restore", f.carryOutRestore(ctx, n, d.TenantID, root))
}

// carryOutRestore finishes a restore that was begun.
func (f *Forest) carryOutRestore(ctx context.Context, n *node, tenant string, root engine.Document) error {
	ctx = n.sinceLastRun(ctx, root)
	if root.Journal.Phase == phaseReturning {
		decided, err := f.decideRestore(ctx, n, tenant, root)
		if errors.Is(err, errEnded) {
			return nil
		}
		if err != nil {
			return err
		}
		root = decided
	}
	// A process that was late with its part of the delete may have left descendants hidden.
	if err := f.unhideBelow(ctx, n, tenant, root, phaseRetained, phaseDescendant); err != nil {
		return err
	}
	return f.last(ctx, n, tenant, root, unhideRoot)
}

// decideRestore looks at the parent of a child that is to be restored, while the child is
// hidden still, in phaseReturning. If the parent is there, its next delete is going to see
// that; if it isn't, the child stays deleted. The first process that writes its
// decision decides for all.
func (f *Forest) decideRestore(ctx context.Context, n *node, tenant string, root engine.Document) (engine.Document, error) {
	for attempts := 0; ; attempts++ {
		alive := f.parentAlive(ctx, n, tenant, root)
		var err error
		switch {
		case alive == nil:
			var done []engine.Document
			done, err = n.Edit(ctx, []engine.Document{root}, func(s engine.Document) engine.Document { return inPhase(s, phaseRestoring) })
			if len(done) == 1 {
				return done[0], nil
			}
		case errors.Is(alive, repository.ErrDanglingRef):
			var done int
			if done, err = f.retentionOf(n, root).finishRoot(ctx, n, []engine.Document{root}); done == 1 {
				return root, alive
			}
		default:
			return root, alive
		}
		if err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return root, err
		}
		again, err := n.Outline(ctx, tenant, f.given(n, root), root.ID)
		switch {
		case err != nil:
			return root, err
		case again.DeletedAt == "" || !sameRun(again, root):
			return again, errEnded
		case underWay(again, phaseRestoring):
			return again, nil
		case !underWay(again, phaseReturning):
			return again, &DanglingError{Field: parentField, EntityType: n.parent.parent.EntityType(), ID: root.ParentID}
		}
		root = again
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return root, err
		}
	}
}

// outlineRetained reads a document that can be restored or purged.
func (f *Forest) outlineRetained(ctx context.Context, n *node, d engine.Deletion) (engine.Document, error) {
	s, err := n.Outline(ctx, d.TenantID, d.Key, d.ID)
	switch {
	case err != nil:
		return s, err
	case s.DeletedAt == "":
		return s, fmt.Errorf("%w: the document is not deleted", repository.ErrConflict)
	case s.Journal == nil || s.Journal.Phase != phaseRetained && s.Journal.Phase != phaseReturning && s.Journal.Phase != phaseRestoring && s.Journal.Phase != phasePurging:
		return s, repository.ErrNotFound // its delete is still under way, or it left a tombstone only
	}
	return s, nil
}

// purge removes a document that was deleted softly, and what was deleted with
// it, and leaves the tombstones that the entity types' policies ask for.
func (f *Forest) purge(ctx context.Context, n *node, d engine.Deletion) error {
	root, err := f.enterPhase(ctx, n, d, phasePurging, func(root engine.Document) error {
		if root.Journal.Phase == phaseReturning || root.Journal.Phase == phaseRestoring {
			return fmt.Errorf("%w: the document is being restored (wait for it, or let Forest.Resume finish it, and delete the document again)", repository.ErrConflict)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return unfinished("purge", f.carryOut(ctx, n, d.TenantID, root))
}

// enterPhase writes the phase of a restore or a purge into a document, unless an
// earlier call left it. Before that it asks may, with the document as it is
// stored; an error of may is returned and nothing is written.
func (f *Forest) enterPhase(ctx context.Context, n *node, d engine.Deletion, phase string, may func(engine.Document) error) (engine.Document, error) {
	for attempts := 0; ; attempts++ {
		root, err := f.outlineRetained(ctx, n, d)
		if err == nil {
			err = may(root)
		}
		if err != nil || underWay(root, phase) || phase == phaseReturning && underWay(root, phaseRestoring) {
			return root, err
		}
		begun, err := n.Edit(ctx, []engine.Document{root}, func(s engine.Document) engine.Document { return inPhase(s, phase) })
		if len(begun) == 1 {
			return begun[0], nil
		}
		if err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return root, err
		}
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return root, err
		}
	}
}

package parented

import (
	"context"
	"errors"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// applyRule applies a relation's rule to a child whose parent is gone. One that does not name a
// whole parent is left alone.
func (f *Forest) applyRule(ctx context.Context, r *relation, tenant string, outline engine.Document) error {
	if outline.ParentID == "" || !r.namedBy(outline).whole() {
		return nil
	}
	switch r.rule {
	case Cascade:
		return f.deleteOrphan(ctx, r.child, tenant, outline)
	case Orphan:
		return f.clearParent(ctx, r.child, tenant, outline)
	}
	// Restrict: the parent's delete sees the child and is refused. One that a delete had hidden which has ended without it is there again.
	if underWay(outline, phaseDescendant) {
		return f.unhideStray(ctx, r.child, tenant, outline)
	}
	return nil
}

// maxFollowLooks is how often a writer looks what became of a child that it left to the delete
// of the parent: some tenths of a second. After that, whoever goes on with that delete finds the
// child, and Sweep one that came behind its last look.
const maxFollowLooks = 10

// followDelete does to a child, which was changed and whose parent is not there, what
// the parent's delete does. The child becomes a part of it, also when it has ended, so
// that a restore of the parent brings it back. Under Restrict that is so too where the parent
// can be restored, if the delete was decided without the child; it fails with a DanglingError then,
// and where the parent is gone for good.
func (f *Forest) followDelete(ctx context.Context, r *relation, tenant string, child engine.Document) error {
	if r.rule == Orphan {
		return f.applyRule(ctx, r, tenant, child)
	}
	var dangling error
	if r.rule == Restrict {
		dangling = &DanglingError{Field: parentField, EntityType: r.parent.EntityType(), ID: child.ParentID}
	}
	run := "" // of the delete that the child has joined
	for looks := range maxFollowLooks {
		parent, err := f.parentOf(ctx, r, tenant, child)
		joined := false
		switch {
		case err != nil:
			return err
		case parent.ID != "" && parent.DeletedAt == "":
			if isStray(child, parent) || isRetained(child) && runOf(child) == run {
				err = f.unhideStray(ctx, r.child, tenant, child)
			}
			return err
		case isRetained(parent) && isRetained(child) && sameRun(parent, child):
			back, err := f.beingRestored(ctx, r.parent, tenant, parent)
			if err != nil {
				return err
			}
			if back {
				return f.unhideStray(ctx, r.child, tenant, child)
			}
			return dangling
		case isRetained(parent) && isRetained(child):
			if !rolledBack(parent, child) && runOf(child) != run {
				return dangling // it was deleted by itself
			}
			// The delete that it had joined was undone meanwhile, and the parent deleted again.
			if err := f.unhideStray(ctx, r.child, tenant, child); err != nil {
				return err
			}
		case isRetained(parent):
			if joined, err = f.joinEnded(ctx, r.child, tenant, child, parent); err != nil {
				return err
			}
			run = runOf(parent)
		case !underWay(parent, phaseDeciding, phaseRemoving, phasePurging, phaseDescendant, phaseRollingBack, phaseReturning, phaseRestoring):
			return errors.Join(dangling, f.applyRule(ctx, r, tenant, child))
		case child.DeletedAt == "" && r.goesWith(parent):
			if _, err := f.hideDescendants(ctx, r.child, []engine.Document{child}, parent); err != nil {
				return err
			}
		default:
			if err := pause(ctx, looks); err != nil {
				return err
			}
		}
		now, err := r.child.Outline(ctx, tenant, f.given(r.child, child), child.ID)
		switch {
		case errors.Is(err, repository.ErrNotFound):
			return nil
		case err != nil:
			return err
		case !r.namedBy(now).same(r.namedBy(child)):
			return nil // it has moved
		case now.DeletedAt != "" && !underWay(now, phaseDescendant) && !joined && runOf(now) != run && (r.rule != Restrict || !sameRun(now, parent)):
			return nil // a delete has it
		}
		child = now
	}
	return dangling // Resume goes on with the delete
}

// goesWith reports whether a child that came late is hidden with a parent whose delete is under way. Under
// Restrict the delete counts it then, if it is not decided yet, and is refused; and what is not to be
// restored keeps the child.
func (r *relation) goesWith(parent engine.Document) bool {
	if underWay(parent, phaseRollingBack, phaseReturning, phaseRestoring) || r.rule == Restrict && underWay(parent, phasePurging) {
		return false
	}
	return r.rule != Restrict || parent.Journal != nil && parent.Journal.Until != 0
}

// deleteOrphan removes a child, with what may be below it, that no other delete is
// going to remove: its parent is gone. A child that has changed since its outline was read is looked at again: it may have
// another parent by now, or be another document of the same id.
func (f *Forest) deleteOrphan(ctx context.Context, n *node, tenant string, outline engine.Document) error {
	for attempts := 0; ; attempts++ {
		err := f.deleteUnchanged(ctx, n, tenant, outline)
		if !errors.Is(err, repository.ErrPreconditionFailed) {
			return err
		}
		again, still, err := f.stillOrphan(ctx, n, tenant, outline)
		if err != nil || !still {
			return err
		}
		outline = again
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return err
		}
	}
}

// stillOrphan looks again at a child that has changed. It reports false where the child is gone, deleted or with another parent, or where
// a parent of that id is there again.
func (f *Forest) stillOrphan(ctx context.Context, n *node, tenant string, outline engine.Document) (again engine.Document, still bool, err error) {
	again, err = n.Outline(ctx, tenant, f.given(n, outline), outline.ID)
	switch {
	case errors.Is(err, repository.ErrNotFound):
		return again, false, nil
	case err != nil || again.DeletedAt != "" || !n.parent.namedBy(again).same(n.parent.namedBy(outline)):
		return again, false, err
	}
	if err = f.parentAlive(ctx, n, tenant, again); errors.Is(err, repository.ErrDanglingRef) {
		return again, true, nil
	}
	return again, false, err
}

// deleteUnchanged deletes a child as its outline was read.
func (f *Forest) deleteUnchanged(ctx context.Context, n *node, tenant string, outline engine.Document) error {
	d := engine.Deletion{TenantID: tenant, Key: f.given(n, outline), ID: outline.ID, ETag: outline.ETag}
	if underWay(outline, phaseDescendant) { // the delete that it was a part of has ended without it
		if len(n.children) == 0 {
			_, err := f.deleteLeaf(ctx, n, outline)
			return err
		}
		phase := phaseRemoving
		if n.restricts() {
			phase = phaseDeciding // what is below it may keep it, and then it is shown again
		}
		taken, err := n.Edit(ctx, []engine.Document{outline}, func(s engine.Document) engine.Document { return inPhase(s, phase) })
		if err != nil || len(taken) == 0 {
			return err
		}
		d.ETag = taken[0].ETag
	}
	err := f.delete(ctx, n, d)
	if errors.Is(err, repository.ErrNotFound) {
		return nil
	}
	return err
}

// clearParent is clearParents of a child that may have changed since its outline was read.
func (f *Forest) clearParent(ctx context.Context, n *node, tenant string, outline engine.Document) error {
	for attempts := 0; ; attempts++ {
		done, err := f.clearParents(ctx, n, []engine.Document{outline})
		if done == 1 || err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return err
		}
		again, still, err := f.stillOrphan(ctx, n, tenant, outline)
		if err != nil || !still {
			return err
		}
		outline = again
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return err
		}
	}
}

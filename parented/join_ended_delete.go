package parented

import (
	"context"
	"errors"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// A child can be left when a soft delete of its parent has ended: a write of it came too late, a
// replica was behind, or a process died. It joins that delete: it is deleted by itself, as any
// document is, and what is left of it belongs to the run that the parent was deleted by. A restore
// of the parent brings it back.

// joinEnded makes a child, with what is below it, a part of a delete that has ended and can be undone. It
// reports false where the child has changed, and the next look tells.
func (f *Forest) joinEnded(ctx context.Context, n *node, tenant string, child, parent engine.Document) (bool, error) {
	kept, root, err := f.stillKept(ctx, n.parent.parent, tenant, parent)
	if err != nil {
		return false, err
	}
	if len(n.children) == 0 {
		// The restore may begin meanwhile: whoever calls this looks at the parent again.
		rest := retention{forest: f, soft: true, at: parent.DeletedAt, run: runOf(parent)}
		done, err := rest.finish(ctx, n, []engine.Document{child}, kept, engine.Journal{Until: untilOf(root)})
		return done == 1, err
	}
	if begun(child) {
		did, err := f.finish(ctx, n, tenant, child)
		return did && err == nil, err
	}
	phase := phaseRemoving
	if n.restricts() {
		phase = phaseDeciding
		counts := map[string]int64{}
		if err := f.countRestricting(ctx, n, tenant, []engine.Document{child}, counts); err != nil {
			return false, err
		}
		if len(counts) > 0 {
			return false, &ChildrenError{Counts: counts}
		}
	}
	run, err := newRun()
	if err != nil {
		return false, err
	}
	marks, err := n.Edit(ctx, []engine.Document{child}, func(s engine.Document) engine.Document {
		if s.DeletedAt != "" && s.Journal != nil { // a part, whose journal has its ttl
			s.TTL = s.Journal.TTL
		}
		s = hidden(s, parent.DeletedAt, run, phase)
		s.Journal.Joins, s.Journal.Kept, s.Journal.Until = runOf(parent), seconds(kept), untilOf(root)
		return s
	})
	if err != nil || len(marks) == 0 {
		return false, err
	}
	marks[0].ReadAt = max(marks[0].ReadAt, root.ReadAt)
	return true, unfinished("delete", f.carryOut(ctx, n, tenant, marks[0]))
}

// endJoin looks at the parent once more: a restore that began meanwhile did not find the child.
func (f *Forest) endJoin(ctx context.Context, n *node, tenant string, root engine.Document) error {
	parent, err := f.parentOf(ctx, n.parent, tenant, root)
	if err != nil || parent.ID == "" {
		return err
	}
	child, err := n.Outline(ctx, tenant, f.given(n, root), root.ID)
	if errors.Is(err, repository.ErrNotFound) {
		return nil
	}
	if err != nil || runOf(child) != root.Journal.Joins || !isRetained(child) {
		return err
	}
	if back, err := f.beingRestored(ctx, n.parent.parent, tenant, parent); err != nil || !back && !rolledBack(parent, child) {
		return err
	}
	return f.unhideStray(ctx, n, tenant, child)
}

// beingRestored reports whether the run that hides a document is being undone. The document that the run
// began with tells: its phase is written before a restore looks for what is below, which comes back from the bottom up. So a
// restore that this look does not see, or that may still be refused, finds whatever is hidden by now.
func (f *Forest) beingRestored(ctx context.Context, n *node, tenant string, s engine.Document) (bool, error) {
	root, above, err := f.rootOfRun(ctx, n, tenant, s)
	return err == nil && (underWay(root, phaseRestoring, phaseRollingBack) || rolledBack(above, s)), err
}

// stillKept is how long what joins a delete that has ended is kept from now on: as long as what the delete
// took with its root, by the service's clock. The root says up to when that is.
func (f *Forest) stillKept(ctx context.Context, n *node, tenant string, parent engine.Document) (kept time.Duration, root engine.Document, err error) {
	root, _, err = f.rootOfRun(ctx, n, tenant, parent)
	if untilOf(root) != 0 && root.ReadAt != 0 {
		return keptUntil(root) + restoreSpan, root, err
	}
	return time.Duration(parent.TTL)*time.Second + restoreSpan, root, err
}

// untilOf is up to when a document can be restored, as its journal says; 0 is unknown.
func untilOf(s engine.Document) int64 {
	if s.Journal == nil {
		return 0
	}
	return s.Journal.Until
}

// keptUntil is for how long that is, from when the document was read.
func keptUntil(s engine.Document) time.Duration {
	return time.Duration(max(0, untilOf(s)-s.ReadAt)) * time.Second
}

// rootOfRun finds the document that the delete began with which hides a document, or the uppermost that is
// left of it, and what is above that.
func (f *Forest) rootOfRun(ctx context.Context, n *node, tenant string, s engine.Document) (root, above engine.Document, err error) {
	for root = s; n.parent != nil && root.ParentID != ""; root, n = above, n.parent.parent {
		above, err = f.parentOf(ctx, n.parent, tenant, root)
		if err != nil || !sameRun(above, s) || above.DeletedAt == "" {
			return root, above, err
		}
	}
	return root, engine.Document{}, nil
}

// isStray says that a child is hidden, and its parent is there: of a delete that was broken off
// when an Upsert overwrote the parent, or of one that was rolled back while a process was late with it.
// A parent is hidden before its children, and comes back after them.
func isStray(child, parent engine.Document) bool {
	return parent.DeletedAt == "" && (underWay(child, phaseDescendant) || isRetained(child) && rolledBack(parent, child))
}

// unhideStray brings a child back, and what the same run hides below it.
func (f *Forest) unhideStray(ctx context.Context, n *node, tenant string, child engine.Document) error {
	if _, err := unhide(ctx, n, []engine.Document{child}); err != nil {
		return err
	}
	return f.unhideLate(ctx, n, tenant, []engine.Document{child}, runOf(child))
}

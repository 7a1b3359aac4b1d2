package parented

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// Resumed says what [Forest.Resume] found.
type Resumed struct {
	// Finished counts the deletes, restores and moves that were under way and are
	// carried out, and the children that a write of this process had left without their
	// parent. Where two processes end the same one together, both count it.
	Finished int
	// Refused counts the deletes that Restrict forbids, and those with a plan that
	// the tree has outgrown. They were rolled back, but for those that [ChildrenError]
	// names as the exception.
	Refused int
}

// Resume finishes what processes that died have begun: deletes, purges,
// restores and moves. It also ends the writes of children of this process after which
// the parent could not be looked at again. Package registry calls it by itself with fx: at start, and then about
// every Config.Upkeep, 10 minutes unless that says otherwise. Without fx, run Database.Upkeep, which
// does the same; without registry, call Resume at start and from time to time. Several processes may do
// so at once. With tenants it looks at those only, else it asks every physical
// partition of every container: one query for each entity type that deletes can
// begin with, which the index answers.
//
// It goes on after an error and returns all of them joined.
func (f *Forest) Resume(ctx context.Context, tenants ...string) (Resumed, error) {
	var out Resumed
	var errs []error
	followed, err := f.runPendingChecks(ctx, tenants)
	out.Finished += followed
	errs = append(errs, err)
	unfinished := engine.SQL(`c["ttl"] = -1 AND IS_DEFINED(c["deletedAt"]) AND `+memberSQL(engine.JournalField+".phase")+" != @part", engine.P("part", phaseDescendant))
	find := func(n *node, q engine.Query) []engine.Document {
		var found []engine.Document
		var err error
		if len(tenants) == 0 {
			found, err = collect(n.DocumentsOfAllTenants(ctx, q, engine.Outline()))
			errs = append(errs, err)
		}
		for _, tenant := range tenants {
			more, err := collect(n.Documents(ctx, tenant, nil, q, engine.Outline()))
			found = append(found, more...)
			errs = append(errs, err)
		}
		return found
	}
	for _, n := range f.all() {
		if n.parent == nil || !n.parent.tracksMoves() {
			continue
		}
		for _, child := range find(n, engine.SQL("IS_DEFINED("+memberSQL(engine.MovingField)+")")) {
			tenant, _ := child.Key[0].(string)
			_, ended, err := f.endMove(ctx, n, tenant, child)
			errs = append(errs, out.add(ended, err))
		}
	}
	for _, n := range f.all() {
		if len(n.children) == 0 && n.policy.Retain == 0 {
			continue
		}
		for _, root := range find(n, unfinished) {
			tenant, _ := root.Key[0].(string)
			errs = append(errs, out.add(f.finish(ctx, n, tenant, root)))
		}
	}
	return out, errors.Join(errs...)
}

// finish ends what was begun with a document, as a further Delete or Restore of it does
// (tryDelete in delete.go, enterPhase in restore.go). It reports false where that had
// ended since the document's outline was read, which a list from a replica
// that is behind may say of anything.
func (f *Forest) finish(ctx context.Context, n *node, tenant string, begun engine.Document) (bool, error) {
	return f.finishRun(ctx, n, engine.Deletion{TenantID: tenant, Key: f.given(n, begun), ID: begun.ID}, runOf(begun))
}

// finishRun is finish of what is known by its run alone.
func (f *Forest) finishRun(ctx context.Context, n *node, d engine.Deletion, run string) (bool, error) {
	tenant := d.TenantID
	root, err := n.Outline(ctx, tenant, d.Key, d.ID)
	switch {
	case errors.Is(err, repository.ErrNotFound):
		return false, nil
	case err != nil:
	case runOf(root) != run:
		return false, nil
	case underWay(root, phaseRollingBack):
		if err = f.rollBack(ctx, n, tenant, root); err == nil {
			return true, repository.ErrHasChildren
		}
	case underWay(root, phaseReturning, phaseRestoring):
		err = f.carryOutRestore(ctx, n, tenant, root)
	case underWay(root, phaseDeciding, phaseRemoving, phasePurging):
		err = f.carryOut(ctx, n, tenant, root)
	default:
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("finish what was begun with %s %q of tenant %q: %w", n.EntityType(), d.ID, tenant, err)
	}
	return true, nil
}

// add counts something that was found begun; ended says that this call ended it.
func (r *Resumed) add(ended bool, err error) error {
	switch {
	case err == nil && !ended:
		return nil
	case err == nil, errors.Is(err, repository.ErrDanglingRef): // a restore whose parent has gone ends in a delete
		r.Finished++
		return nil
	case errors.Is(err, repository.ErrHasChildren), isPlanChanged(err):
		r.Refused++
		return nil
	}
	return err
}

package parented

import (
	"context"
	"errors"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// restricts reports whether a delete of such a document can be forbidden by
// something below it.
func (n *node) restricts() bool {
	return slices.ContainsFunc(n.children, func(r *relation) bool {
		return r.restricts()
	})
}

// restricts reports whether such a child may forbid the delete of its parent.
func (r *relation) restricts() bool {
	return r.rule == Restrict || r.rule == Cascade && r.child.restricts()
}

// errChanged ends a look at a tree that other writers are changing.
var errChanged = errors.New("changed meanwhile")

// errEnded says that another process has carried out the same delete.
var errEnded = errors.New("ended by another process")

// decide finds out whether a hidden document may go. It hides the documents
// on the way to every restricting entity type and counts there. The first process
// that writes its decision decides for all.
func (f *Forest) decide(ctx context.Context, n *node, tenant string, root engine.Document) (engine.Document, error) {
	var counts map[string]int64
	var grown error
	for attempts := 0; ; attempts++ {
		var err error
		if confirmed := root.Journal.Confirmed; confirmed != nil {
			plan := newPlan(n)
			err = f.hideAll(ctx, n, tenant, []engine.Document{root}, plan, f.hiding(tenant, root))
			counts, grown = plan.Restricting, plan.Exceeds(confirmed)
		} else {
			counts = map[string]int64{}
			err = f.countRestrictingBelow(ctx, n, tenant, []engine.Document{root}, counts, f.hiding(tenant, root))
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errChanged) {
			return root, err
		}
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return root, err
		}
	}
	why := ""
	switch {
	case len(counts) > 0:
		why = refusedForChildren
	case grown != nil:
		why = refusedForGrowth
	}
	root, err := f.decided(ctx, n, tenant, root, why)
	if err != nil || root.Journal.Phase == phaseRemoving {
		return root, err
	}
	if err := f.rollBack(ctx, n, tenant, root); err != nil {
		return root, err
	}
	if len(counts) == 0 && grown != nil {
		return root, grown
	}
	if len(counts) == 0 {
		return root, refusalOf(root) // of another process, which met what has gone since
	}
	return root, &ChildrenError{Counts: counts}
}

// Why a delete was refused, in its journal.
const (
	refusedForChildren = "children"
	refusedForGrowth   = "growth"
)

// refusalOf is the error of a delete that another process has refused.
func refusalOf(s engine.Document) error {
	switch s.Journal.Refused {
	case refusedForChildren:
		return &ChildrenError{}
	case refusedForGrowth:
		return &PlanChangedError{}
	}
	return repository.ErrPreconditionFailed // a former version did not say why
}

// wasRefused reports whether the run that hid root was refused, as far as the
// document tells as it is now.
func wasRefused(now, root engine.Document) bool {
	return now.Journal != nil && now.Journal.Refused != "" && now.Journal.RolledBack == runOf(root)
}

// hiding returns a visit that hides documents for one delete, and ends what
// others have begun below it.
func (f *Forest) hiding(tenant string, root engine.Document) func(context.Context, *node, []engine.Document) ([]engine.Document, error) {
	return func(ctx context.Context, n *node, outlines []engine.Document) ([]engine.Document, error) {
		// What this very run has been rolled back from is not its own any more; the
		// decision is going to be refused.
		outlines = slices.DeleteFunc(slices.Clone(outlines), func(s engine.Document) bool { return rolledBack(s, root) })
		others, _, err := f.endOverlapping(ctx, n, tenant, outlines)
		if err != nil {
			return nil, err
		}
		seen, err := f.hideDescendants(ctx, n, others, root)
		if err == nil && len(seen) < len(outlines) {
			err = errChanged
		}
		return seen, err
	}
}

// decided writes the decision, unless there is one, and returns what holds. The
// delete goes on unless there is a reason why it is refused.
func (f *Forest) decided(ctx context.Context, n *node, tenant string, root engine.Document, why string) (engine.Document, error) {
	phase := phaseRemoving
	if why != "" {
		phase = phaseRollingBack
	}
	for attempts := 0; ; attempts++ {
		done, err := n.Edit(ctx, []engine.Document{root}, func(s engine.Document) engine.Document {
			s = inPhase(s, phase)
			if why != "" {
				s.Journal.Refused = why
			}
			return s
		})
		if len(done) == 1 {
			return done[0], nil
		}
		if err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return root, err
		}
		again, err := n.Outline(ctx, tenant, f.given(n, root), root.ID)
		if err != nil && !errors.Is(err, repository.ErrNotFound) {
			return root, err
		}
		switch {
		case err != nil || !sameRun(again, root) || !underWay(again, phaseDeciding, phaseRollingBack, phaseRemoving):
			// The delete came to its end without this process, which may
			// have hidden something too late for that to be rolled back with it.
			if openErr := f.unhideBelow(ctx, n, tenant, root, phaseDescendant); openErr != nil {
				return root, openErr
			}
			if err == nil && wasRefused(again, root) {
				return root, refusalOf(again)
			}
			if err != nil || again.DeletedAt != "" && !begun(again) {
				return root, errEnded
			}
			return root, repository.ErrPreconditionFailed
		case !underWay(again, phaseDeciding):
			return again, nil
		}
		root = again
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return root, err
		}
	}
}

// refuseLate looks below documents that are not hidden though the delete above them
// was decided: they were moved there in the same instant, with what they have.
func (f *Forest) refuseLate(ctx context.Context, n *node, tenant string, outlines []engine.Document) error {
	for _, s := range outlines {
		if s.DeletedAt != "" {
			continue
		}
		counts := map[string]int64{}
		if err := f.countRestricting(ctx, n, tenant, []engine.Document{s}, counts); err != nil {
			return err
		}
		if len(counts) > 0 {
			return &lateError{counts}
		}
	}
	return nil
}

// countRestricting counts what forbids a delete, without hiding anything.
func (f *Forest) countRestricting(ctx context.Context, n *node, tenant string, parents []engine.Document, counts map[string]int64) error {
	asIs := func(_ context.Context, _ *node, outlines []engine.Document) ([]engine.Document, error) {
		return outlines, nil
	}
	return f.countRestrictingBelow(ctx, n, tenant, parents, counts, asIs)
}

// countRestrictingBelow goes down to all restricting entity types and adds up what is there.
// visit sees the documents on the way, before their children are looked at.
func (f *Forest) countRestrictingBelow(ctx context.Context, n *node, tenant string, parents []engine.Document, counts map[string]int64, visit func(context.Context, *node, []engine.Document) ([]engine.Document, error)) error {
	for _, r := range n.children {
		if !r.restricts() {
			continue
		}
		for group := range parentGroups(r, parents) {
			q := group.childrenAndMoving(present(), r)
			if r.rule == Restrict {
				count, err := f.countRestricted(ctx, r, tenant, group, q)
				if err != nil {
					return err
				}
				if count > 0 {
					counts[r.child.EntityType()] += count
				}
				continue
			}
			err := f.inChunks(r.child.Documents(ctx, tenant, group.key, q, engine.Outline()), func(outlines []engine.Document) error {
				outlines, _, err := f.finishMoves(ctx, r, tenant, group, outlines)
				if err != nil || len(outlines) == 0 {
					return err
				}
				seen, err := visit(ctx, r.child, outlines)
				if err != nil {
					return err
				}
				return f.countRestrictingBelow(ctx, r.child, tenant, seen, counts, visit)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countRestricted counts the children under the rule Restrict. If there are any, the moves
// among them are ended first: one whose mover died must not forbid the delete of its former parent.
func (f *Forest) countRestricted(ctx context.Context, r *relation, tenant string, group parentGroup, q engine.Query) (int64, error) {
	count, err := r.child.Count(ctx, tenant, group.key, q)
	if err != nil || count == 0 || !r.tracksMoves() {
		return count, err
	}
	finished := 0
	moving := q.AndSQL("IS_DEFINED(" + memberSQL(engine.MovingField) + ")")
	err = f.inChunks(r.child.Documents(ctx, tenant, group.key, moving, engine.Outline()), func(outlines []engine.Document) error {
		_, n, err := f.finishMoves(ctx, r, tenant, group, outlines)
		finished += n
		return err
	})
	if err != nil || finished == 0 {
		return count, err
	}
	return r.child.Count(ctx, tenant, group.key, q)
}

// hideAll counts what a delete takes, and hides it before, so that what comes later is
// known by being visible.
func (f *Forest) hideAll(ctx context.Context, n *node, tenant string, parents []engine.Document, plan *engine.DeletePlan, visit func(context.Context, *node, []engine.Document) ([]engine.Document, error)) error {
	for _, r := range n.children {
		name := r.child.EntityType()
		for group := range parentGroups(r, parents) {
			q := group.childrenAndMoving(present(), r)
			var err error
			var count int64
			switch r.rule {
			case Restrict:
				count, err = f.countRestricted(ctx, r, tenant, group, q)
				if count > 0 {
					plan.Restricting[name] += count
				}
			case Orphan:
				count, err = r.child.Count(ctx, tenant, group.key, q)
				if count > 0 {
					plan.Orphaned[name] += count
				}
			case Cascade:
				err = f.inChunks(r.child.Documents(ctx, tenant, group.key, q, engine.Outline()), func(outlines []engine.Document) error {
					outlines, _, err := f.finishMoves(ctx, r, tenant, group, outlines)
					if err == nil && len(outlines) > 0 {
						outlines, err = visit(ctx, r.child, outlines)
					}
					if err != nil || len(outlines) == 0 {
						return err
					}
					plan.Removed[name] += int64(len(outlines))
					return f.hideAll(ctx, r.child, tenant, outlines, plan, visit)
				})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

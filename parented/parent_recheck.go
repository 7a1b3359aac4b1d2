package parented

import (
	"context"
	"errors"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// A write of a child whose second look at the parent failed is stored, or may be where its answer was
// lost, and nobody knows whether the parent is there. Its caller is told so; the forest keeps
// the check pending, and Resume runs it, in this process. Of a process
// that dies meanwhile, Sweep finds the child.

// pendingCheck is a child whose parent has to be looked at again.
type pendingCheck struct {
	node    *node
	tenant  string
	key     []any // what In takes
	id      string
	created string // the etag of the create; empty for what was written over, or moved
}

// maxPendingChecks bounds the memory of an outage. What has no room is left to Sweep.
const maxPendingChecks = 10_000

func (f *Forest) enqueueCheck(children ...pendingCheck) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pendingChecks = append(f.pendingChecks, children[:min(len(children), maxPendingChecks-len(f.pendingChecks))]...)
}

// takePending takes the checks of some tenants, or of all, out of the forest.
func (f *Forest) takePending(tenants []string) (taken []pendingCheck) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rest []pendingCheck
	for _, c := range f.pendingChecks {
		if len(tenants) == 0 || slices.Contains(tenants, c.tenant) {
			taken = append(taken, c)
		} else {
			rest = append(rest, c)
		}
	}
	f.pendingChecks = rest
	return taken
}

// runPendingChecks runs the checks that failed, and reports how many children were
// there without their parent. Those that fail again stay pending.
func (f *Forest) runPendingChecks(ctx context.Context, tenants []string) (followed int, err error) {
	var errs []error
	for _, c := range f.takePending(tenants) {
		did, err := f.runCheck(ctx, c)
		if err != nil {
			f.enqueueCheck(c)
			errs = append(errs, err)
		}
		if did {
			followed++
		}
	}
	return followed, errors.Join(errs...)
}

// runCheck does to a child what the delete of its parent would have done, if that is gone.
func (f *Forest) runCheck(ctx context.Context, c pendingCheck) (bool, error) {
	outline, err := f.outlineAfterMove(ctx, c.node, c.tenant, c.key, c.id)
	if errors.Is(err, repository.ErrNotFound) || errors.Is(err, repository.ErrEntityMismatch) {
		return false, nil
	}
	if err != nil || outline.DeletedAt != "" && !underWay(outline, phaseDescendant) {
		return false, err // a delete that is under way ends it
	}
	if !c.node.parent.namedBy(outline).whole() {
		return false, nil // another writer has made it nobody's
	}
	gone := f.parentAlive(ctx, c.node, c.tenant, outline)
	switch {
	case gone == nil:
		return false, nil
	case !errors.Is(gone, repository.ErrDanglingRef):
		return false, gone
	case c.created != "" && c.created == outline.ETag && c.node.parent.rule != Cascade:
		var done bool
		if done, err = f.takeBack(ctx, c.node, c.tenant, outline); err == nil && !done {
			f.enqueueCheck(c) // it changed in this instant
			return false, nil
		}
	default:
		err = f.followDelete(ctx, c.node.parent, c.tenant, outline)
	}
	if errors.Is(err, repository.ErrHasChildren) {
		return false, nil // what is below it keeps it
	}
	if errors.Is(err, repository.ErrDanglingRef) {
		return true, nil // Restrict keeps it
	}
	return err == nil, err
}

// enqueueChecks is enqueueCheck for entities, with the error for their writer.
func (r *children) enqueueChecks(tenant string, entities []any, created bool, err error) error {
	if err != nil {
		r.enqueue(tenant, entities, created)
	}
	return storedBut(err)
}

// InDoubt keeps children pending of which it is not known whether they are stored: if they are, nobody
// has looked at their parent since.
func (r *children) InDoubt(tenant string, entities []any) { r.enqueue(tenant, entities, false) }

func (r *children) enqueue(tenant string, entities []any, created bool) {
	for _, child := range r.among(entities) {
		if id, _ := parentFields(child); *id == "" {
			continue
		}
		if key, err := r.keyOf(child); err == nil {
			check := pendingCheck{node: r.node, tenant: tenant, key: key, id: engine.MetaOf(child).ID}
			if created {
				check.created = engine.MetaOf(child).ETag
			}
			r.forest.enqueueCheck(check)
		}
	}
}

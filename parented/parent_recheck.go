package parented

import (
	"context"
	"errors"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// A write of a child whose second look at the parent failed is stored, and nobody
// knows whether the parent is there. Its caller is told so; the forest keeps the
// child in mind, and Resume takes that look again, in this process. Of a process
// that dies meanwhile, Sweep finds the child.

// unlooked is a child whose parent has to be looked at again.
type unlooked struct {
	node    *node
	tenant  string
	key     []any // what In takes
	id      string
	created bool // and not written over, or moved
}

// maxUnlooked bounds the memory of an outage. What has no room is left to Sweep.
const maxUnlooked = 10_000

func (f *Forest) lookLater(children ...unlooked) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unlooked = append(f.unlooked, children[:min(len(children), maxUnlooked-len(f.unlooked))]...)
}

// takeUnlooked takes the children of some tenants, or of all, out of the forest's mind.
func (f *Forest) takeUnlooked(tenants []string) (taken []unlooked) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rest []unlooked
	for _, c := range f.unlooked {
		if len(tenants) == 0 || slices.Contains(tenants, c.tenant) {
			taken = append(taken, c)
		} else {
			rest = append(rest, c)
		}
	}
	f.unlooked = rest
	return taken
}

// lookAgain takes the second looks that failed, and reports how many children
// were there without their parent. Those that fail again are kept in mind.
func (f *Forest) lookAgain(ctx context.Context, tenants []string) (followed int, err error) {
	var errs []error
	for _, c := range f.takeUnlooked(tenants) {
		did, err := f.follow(ctx, c)
		if err != nil {
			f.lookLater(c)
			errs = append(errs, err)
		}
		if did {
			followed++
		}
	}
	return followed, errors.Join(errs...)
}

// follow does to a child what the delete of its parent would have done, if that is gone.
func (f *Forest) follow(ctx context.Context, c unlooked) (bool, error) {
	outline, err := f.outlineAfterMove(ctx, c.node, c.tenant, c.key, c.id)
	if errors.Is(err, repository.ErrNotFound) {
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
	case c.created && c.node.parent.rule != Cascade:
		err = f.uproot(ctx, c.node, c.tenant, outline)
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

// keepInMind is lookLater for entities, with the error for their writer.
func (r *Repository[C, P]) keepInMind(tenant string, entities []any, created bool, err error) error {
	if err == nil {
		return nil
	}
	for _, e := range entities {
		child, ok := e.(*C)
		if !ok {
			continue
		}
		if id, _ := r.link(child); *id == "" {
			continue
		}
		if key, keyErr := r.keyOf(child); keyErr == nil {
			r.forest.lookLater(unlooked{r.node, tenant, key, engine.MetaOf(child).ID, created})
		}
	}
	return storedBut(err)
}

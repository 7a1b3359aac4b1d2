package parented

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A parent is its whole key, and a child names it by its id. Where the key of
// the parents' container has levels of its own, /tenantId,/city, two documents
// of a tenant may have one id, and nothing tells their children apart.

// hasTwins reports whether one id may stand in several partitions of a tenant.
func (n *node) hasTwins() bool {
	return slices.ContainsFunc(n.KeyPaths()[1:], func(path string) bool { return path != "/entityType" && path != "/id" })
}

// refuseTwins keeps the delete of one parent from taking the children of
// another with its id. It costs a query, for such containers alone.
func (f *Forest) refuseTwins(ctx context.Context, n *node, tenant string, root engine.Stub) error {
	if !n.hasTwins() {
		return nil
	}
	for twin, err := range n.Stubs(ctx, tenant, nil, present().And(engine.Eq("id", root.ID))) {
		if err != nil {
			return err
		}
		if reflect.DeepEqual(twin.Key, root.Key) || twin.DeletedAt != "" {
			continue
		}
		children, err := f.hasChildren(ctx, n, tenant, root)
		if err != nil {
			return err
		}
		if children {
			return &tenantitem.InvalidError{
				What:   "delete of " + n.EntityType(),
				Reason: fmt.Sprintf("another %s of the tenant has this id in another partition, and their children can't be told apart", n.EntityType()),
				Hint:   "give parents ids that are unique in their tenant, as an empty id gets; move the children away with Move first",
			}
		}
	}
	return nil
}

// hasChildren reports whether any document names this one as its parent.
func (f *Forest) hasChildren(ctx context.Context, n *node, tenant string, root engine.Stub) (bool, error) {
	for _, r := range n.children {
		for fam := range families(r.child, []engine.Stub{root}) {
			count, err := r.child.Count(ctx, tenant, fam.key, present().And(fam.children()))
			if err != nil || count > 0 {
				return count > 0, err
			}
		}
	}
	return false, nil
}

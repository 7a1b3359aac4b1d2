package parented

import (
	"context"
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A parent is its whole key, and a child names it by its id. Where the key of
// the parents' container has levels of its own, /tenantId,/city, two documents
// of a tenant may have one id, and nothing tells their children apart.

// checkTwins refuses parents of which two in a tenant may have one id, unless the
// program says that they don't.
func checkTwins(child string, parents *engine.Collection, unique bool) error {
	if unique || parents.IDIsUnique() {
		return nil
	}
	return &tenantitem.InvalidError{
		What:   "child " + child,
		Reason: fmt.Sprintf("the key of its parents %s lets one id stand in several partitions of a tenant, and their children can't be told apart", parents.EntityType()),
		Hint:   fmt.Sprintf("say that ids of %s are unique in their tenant, as those are that Grove makes (registry.UniqueIDs, or UniqueParentIDs in parented.Config), or store it under a key of tenant, entity type and id", parents.EntityType()),
	}
}

// refuseTwins keeps the delete of one parent from taking the children of another
// with its id, where ids that were said to be unique are not. It costs a query, for
// such containers alone, and does not see what is created in that very instant.
func (f *Forest) refuseTwins(ctx context.Context, n *node, tenant string, root engine.Document) error {
	if n.IDIsUnique() {
		return nil
	}
	for twin, err := range n.Documents(ctx, tenant, nil, present().And(engine.Eq("id", root.ID)), engine.Outline()) {
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
func (f *Forest) hasChildren(ctx context.Context, n *node, tenant string, root engine.Document) (bool, error) {
	for _, r := range n.children {
		for fam := range families(r.child, []engine.Document{root}) {
			count, err := r.child.Count(ctx, tenant, fam.key, present().And(fam.children()))
			if err != nil || count > 0 {
				return count > 0, err
			}
		}
	}
	return false, nil
}

package parented

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Two parents of one id, in two partitions of a tenant, are told apart by fields of
// their children (parent_key.go). Where the children have none, such parents are
// refused: at start, or, where the program said that there are none, by the delete
// that meets them.

// errDuplicateParents refuses parents of which two in a tenant may have one id, with the ways out.
func errDuplicateParents(child, parents, why, field string) error {
	reason := fmt.Sprintf("the key of its parents %s lets one id stand in several partitions of a tenant, and their children can't be told apart", parents)
	if why != "" {
		reason += ": " + why
	}
	hint := fmt.Sprintf("say that ids of %s are unique in their tenant, as those are that Grove makes (registry.UniqueIDs, or UniqueParentIDs in parented.Config), or store it under a key of tenant, entity type and id", parents)
	if field != "" {
		hint = field + ", or " + hint
	}
	return &tenantitem.InvalidError{What: "child " + child, Reason: reason, Hint: hint}
}

var (
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// hasOwnForm reports whether values of a type are stored by a method of it.
func hasOwnForm(t reflect.Type) bool {
	for _, t := range []reflect.Type{t, reflect.PointerTo(t)} {
		if t.Implements(textMarshaler) || t.Implements(jsonMarshaler) {
			return true
		}
	}
	return false
}

// refuseDuplicateParents keeps the delete of one parent from taking the children of another
// with its id, where ids that were said to be unique are not. It costs a query, for
// such containers alone, and does not see what is created in that very instant.
func (f *Forest) refuseDuplicateParents(ctx context.Context, n *node, tenant string, root engine.Document) error {
	if n.IDIsUnique() || !n.hasChildrenByID() {
		return nil
	}
	for duplicate, err := range n.Documents(ctx, tenant, nil, present().And(engine.Eq("id", root.ID)), engine.Outline()) {
		if err != nil {
			return err
		}
		if reflect.DeepEqual(duplicate.Key, root.Key) || duplicate.DeletedAt != "" {
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

// hasChildrenByID reports whether an entity type has children that name it by the id alone.
func (n *node) hasChildrenByID() bool {
	for _, r := range n.children {
		if len(r.levels) == 0 {
			return true
		}
	}
	return false
}

// hasChildren reports whether any document that names its parent by the id alone names this one.
func (f *Forest) hasChildren(ctx context.Context, n *node, tenant string, root engine.Document) (bool, error) {
	for _, r := range n.children {
		if len(r.levels) > 0 {
			continue
		}
		for group := range parentGroups(r, []engine.Document{root}) {
			count, err := r.child.Count(ctx, tenant, group.key, present().And(group.children()))
			if err != nil || count > 0 {
				return count > 0, err
			}
		}
	}
	return false, nil
}

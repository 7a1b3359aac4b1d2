package parented

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// children are those of one entity type, without their Go type. What the verbs of
// RepositoryOf, ScopeOf and PartOf do is done here and in scope.
type children struct {
	forest  *Forest
	node    *node // of the child
	parents *engine.Collection
	buckets bool // their ids are made of their parent's
}

// parentField is the JSON name of ParentedItem.ParentID.
const parentField = "parentId"

// declare records that a child entity type belongs to a parent's, and lets each write of
// a child look at its parent.
func (f *Forest) declare(child, parents *engine.Collection, cfg Config) (*children, error) {
	if child.IsGlobal() != parents.IsGlobal() {
		return nil, &tenantitem.InvalidError{What: "child " + child.EntityType(), Reason: "it and its parent " + parents.EntityType() + " do not both belong to tenants", Hint: "give both a Layout that is Global, or neither"}
	}
	if cfg.Rule == Orphan && slices.Contains(child.GivenFields(), parentField) {
		return nil, &tenantitem.InvalidError{What: "delete rule of " + child.EntityType(), Reason: "the parent's id is part of its partition key, which can't be cleared", Hint: "use Cascade or Restrict, or another key"}
	}
	levels, err := parentLevelsOf(child, parents, cfg.UniqueParentIDs)
	if err != nil {
		return nil, err
	}
	if err := f.refuseDeclaredTwice(child, parents); err != nil {
		return nil, err
	}
	if err := f.register(child, cfg.Policy); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &children{forest: f, node: f.node(child), parents: parents}
	if err := f.relate(f.node(parents), r.node, cfg.Rule, levels); err != nil {
		return nil, err
	}
	guardParent(r.node.parent)
	err = errors.Join(
		child.SetValidator(engine.OwnerParented, engine.ValidatorFunc(r.beforeWrite)),
		child.SetObserver(engine.OwnerParented, r),
	)
	child.SetReadHook(r.readWithWrite)
	return r, err
}

// refuseDeclaredTwice refuses a child type that the forest has already.
func (f *Forest) refuseDeclaredTwice(child, parents *engine.Collection) error {
	for _, n := range f.all() {
		if n.parent != nil && n.Model().Type == child.Model().Type {
			return declaredTwice(n, parents.EntityType())
		}
	}
	return nil
}

func declaredTwice(child *node, again string) error {
	return &tenantitem.InvalidError{
		What:   "child " + child.EntityType(),
		Reason: fmt.Sprintf("it was registered under %s and again under %s", child.parent.parent.EntityType(), again),
		Hint:   "register it once; a child has one parent type",
	}
}

// among returns those of the entities that are such children.
func (r *children) among(entities []any) []any {
	child := reflect.PointerTo(r.node.Model().Type)
	return slices.DeleteFunc(slices.Clone(entities), func(e any) bool { return reflect.TypeOf(e) != child })
}

// parentFields are the members of a child that Grove fills with its parent's id and entity type.
func parentFields(child any) (parentID, parentEntityType *string) {
	item, ok := child.(interface{ parentFields() (*string, *string) })
	if !ok {
		return new(string), new(string) // what has a repository is a child by its constructor's constraint
	}
	return item.parentFields()
}

// checkTenant checks a tenant's id; children of what belongs to none have none.
func (r *children) checkTenant(tenant string) error {
	if tenant == "" && r.parents.IsGlobal() {
		return nil
	}
	return tenantitem.ValidateTenantID(tenant)
}

// parentRef is a parent as its children name it; of its key, what was given.
func (r *children) parentRef(tenant, parent string, key []any) (parentRef, error) {
	ref := parentRef{id: parent}
	levels := r.node.parent.levels
	if len(levels) == 0 && len(key) > 0 {
		return ref, &tenantitem.InvalidError{What: "parent of " + r.node.EntityType(), Reason: fmt.Sprintf("its id alone names a %s, and %d values of its key were given", r.parents.EntityType(), len(key)), Hint: "leave the key out"}
	}
	if len(levels) == 0 {
		return ref, nil
	}
	values, err := r.parents.ValuesExceptID(tenant, key)
	for _, level := range levels {
		ref.levels = append(ref.levels, values[level.field.Path])
	}
	return ref, err
}

// fullKey is nil when the parent is enough to know its children's logical
// partition.
func (r *children) fullKey() error {
	for _, path := range r.node.GivenFields() {
		if path != parentField && !slices.ContainsFunc(r.node.parent.levels, func(l parentLevel) bool { return l.field.Path == path }) {
			return fmt.Errorf("%w: the key holds %q", repository.ErrInvalid, path)
		}
	}
	return nil
}

// keyOf returns the values that In takes for a child, from its own fields.
func (r *children) keyOf(child any) ([]any, error) {
	var key []any
	for _, path := range r.node.GivenFields() {
		field, ok := r.node.Model().Field(path)
		if !ok {
			return nil, fmt.Errorf("%w: partition key path %q is no field", repository.ErrInvalid, path)
		}
		value, ok := field.Value(reflect.ValueOf(child).Elem())
		if !ok || value.IsZero() {
			return nil, &tenantitem.InvalidError{What: "child", Reason: fmt.Sprintf("its key field %q is empty", path), Hint: "fill it before Create"}
		}
		key = append(key, value.Interface())
	}
	return key, nil
}

// childByID reads the outline of one child, deleted or not. Where the key that is known is not the
// whole one it is looked for among those that meet the conditions, and two of one id are refused.
func (r *children) childByID(ctx context.Context, tenant string, key []any, id string, also ...engine.Predicate) (engine.Document, error) {
	if len(key) == len(r.node.GivenFields()) {
		return r.node.Outline(ctx, tenant, key, id)
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return engine.Document{}, err
	}
	q := engine.Where(engine.Eq("id", id)).And(also...).Limit(2)
	children, err := collect(r.node.Documents(ctx, tenant, key, q, engine.Outline()))
	switch {
	case err != nil:
		return engine.Document{}, err
	case len(children) == 0:
		return engine.Document{}, repository.ErrNotFound
	case len(children) > 1:
		return engine.Document{}, &tenantitem.InvalidError{What: "id of " + r.node.EntityType(), Reason: "two documents of the tenant have it, in different partitions", Hint: "use In with the whole key, or give each document an id of its own"}
	}
	return children[0], nil
}

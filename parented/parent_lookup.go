package parented

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// maxParentsPerQuery keeps the text of a query by ids short.
const maxParentsPerQuery = 500

// deadParents returns those of the parents that do not exist or are deleted.
func (r *children) deadParents(ctx context.Context, tenant string, parents []parentRef, entities []any) ([]parentRef, error) {
	relation, collection := r.node.parent, r.parents
	var dead []parentRef
	parents = slices.DeleteFunc(slices.Clone(parents), func(parent parentRef) bool {
		entity, key, found := collection.Sibling(ctx, parent.id)
		found = found && relation.refTo(engine.Document{ID: parent.id, Key: key}).same(parent)
		if found && entity == nil {
			dead = append(dead, parent)
		}
		return found
	})
	if len(parents) == 0 {
		return dead, nil
	}
	if len(parents) == 1 {
		outline, err := collection.Outline(ctx, tenant, r.parentKey(parents[0], entities), parents[0].id)
		switch {
		case errors.Is(err, repository.ErrNotFound), errors.Is(err, repository.ErrEntityMismatch):
			return append(dead, parents...), nil
		case err != nil:
			return nil, err
		case outline.DeletedAt != "":
			return append(dead, parents...), nil
		}
		return dead, nil
	}
	for chunk := range slices.Chunk(parents, maxParentsPerQuery) {
		alive := map[string]bool{}
		for outline, err := range collection.Documents(ctx, tenant, nil, engine.Where(relation.parentsOf(chunk)), engine.Outline()) {
			if err != nil {
				return nil, err
			}
			text := relation.refTo(outline).text()
			alive[text] = alive[text] || outline.DeletedAt == ""
		}
		for _, parent := range chunk {
			if !alive[parent.text()] {
				dead = append(dead, parent)
			}
		}
	}
	return dead, nil
}

// parentKey is what a child tells of where its parent lies: nothing under the
// default key; the levels that it names; and where ids are said to be unique, a key field that both have.
func (r *children) parentKey(parent parentRef, entities []any) []any {
	if len(parent.levels) > 0 {
		return r.node.parent.parentKey(parent)
	}
	var key []any
	for _, path := range r.parents.GivenFields() {
		field, ok := r.node.Model().Field(path)
		if !ok || len(entities) != 1 || !slices.Contains(r.node.GivenFields(), path) {
			return key
		}
		value, ok := field.Value(reflect.ValueOf(entities[0]).Elem())
		if !ok || value.IsZero() {
			return key
		}
		key = append(key, value.Interface())
	}
	return key
}

func (r *children) dangling(parent parentRef) error {
	return &DanglingError{Field: parentField, EntityType: r.parents.EntityType(), ID: parent.id}
}

// alive fails with a DanglingError when there is no such parent.
func (r *children) alive(ctx context.Context, tenant string, parent parentRef) error {
	dead, err := r.deadParents(ctx, tenant, []parentRef{parent}, nil)
	if err == nil && len(dead) > 0 {
		err = r.dangling(parent)
	}
	return err
}

// parentAlive fails with a DanglingError when the document is a child of a
// parent that is gone.
func (f *Forest) parentAlive(ctx context.Context, n *node, tenant string, s engine.Document) error {
	if n.parent == nil || s.ParentID == "" {
		return nil
	}
	parents := n.parent.parent
	for outline, err := range f.parentsNamed(ctx, n.parent, tenant, s) {
		if err != nil {
			return err
		}
		if outline.DeletedAt == "" {
			return nil
		}
	}
	return &DanglingError{Field: parentField, EntityType: parents.EntityType(), ID: s.ParentID}
}

// parentsNamed reads what a child names as its parent, deleted or not: one document, or two where
// ids that were said to be unique are not.
func (f *Forest) parentsNamed(ctx context.Context, r *relation, tenant string, child engine.Document) iter.Seq2[engine.Document, error] {
	named := r.namedBy(child)
	if !named.whole() {
		return func(func(engine.Document, error) bool) {}
	}
	return r.parent.Documents(ctx, tenant, r.parentKey(named), engine.Where(engine.Eq("id", named.id)), engine.Outline())
}

// parentOf reads a child's parent, deleted or not; the zero outline where there is none.
func (f *Forest) parentOf(ctx context.Context, r *relation, tenant string, child engine.Document) (engine.Document, error) {
	var found engine.Document
	for parent, err := range f.parentsNamed(ctx, r, tenant, child) {
		if err != nil {
			return engine.Document{}, err
		}
		if found.ID == "" || parent.DeletedAt == "" {
			found = parent
		}
	}
	return found, nil
}

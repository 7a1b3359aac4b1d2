package parented

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// beforeWrite refuses children whose parent is not there. It reads every
// parent once, however many children there are.
func (r *Repository[C, P]) beforeWrite(ctx context.Context, tenant string, entities []any) error {
	dead, err := r.withoutParents(ctx, tenant, entities)
	if err != nil || len(dead) == 0 {
		return err
	}
	return r.dangling(dead[0])
}

// afterWrite looks again. A delete of the parent that began after the first
// look may have made its own last look before the child was stored; one of the
// two always sees the other. What was created and is removed here was refused; what
// the delete had taken before was there before it, and comes back with its restore.
func (r *Repository[C, P]) afterWrite(ctx context.Context, tenant string, entities []any, created bool) error {
	dead, err := r.withoutParents(ctx, tenant, entities)
	if err != nil || len(dead) == 0 {
		return r.keepInMind(tenant, entities, created, err)
	}
	children, removed := 0, 0
	for _, e := range entities {
		child, ok := e.(*C)
		if !ok {
			continue
		}
		children++
		if id, _ := r.link(child); !slices.Contains(dead, string(*id)) {
			continue
		}
		gone, err := r.followParent(ctx, tenant, child, created)
		if err != nil {
			return r.keepInMind(tenant, entities, created, err)
		}
		if gone {
			removed++
		}
	}
	switch {
	case !created || removed == 0:
		return nil
	case removed < children:
		return fmt.Errorf("%w: of what was written together only a part is stored: %w", repository.ErrAmbiguous, r.dangling(dead[0]))
	}
	return r.dangling(dead[0])
}

// followParent does to one child what the delete of its parent would have done. It
// reports whether it removed the child; not one that the delete has already.
func (r *Repository[C, P]) followParent(ctx context.Context, tenant string, child *C, created bool) (removed bool, err error) {
	meta := engine.MetaOf(child)
	key, err := r.keyOf(child)
	if err != nil {
		return false, err
	}
	for stalls := 0; ; stalls++ {
		outline, err := r.node.Outline(ctx, tenant, key, meta.ID)
		switch {
		case !created && errors.Is(err, repository.ErrNotFound):
			return false, nil
		case errors.Is(err, repository.ErrNotFound), err == nil && outline.DeletedAt != "" && outline.Deletion == nil:
			meta.ETag = ""
			return true, nil
		case err != nil:
			return false, err
		case !created || underWay(outline, phasePart):
			return false, r.forest.followDelete(ctx, r.node.parent, tenant, outline)
		case outline.DeletedAt != "":
			return false, nil
		}
		err = r.forest.delete(ctx, r.node, engine.Deletion{TenantID: tenant, Key: key, ID: meta.ID})
		switch {
		case err == nil:
			meta.ETag = ""
			return true, nil
		case !errors.Is(err, repository.ErrNotFound):
			return false, err
		}
		// It was hidden or removed between the two requests.
		if err := r.forest.tryAgain(ctx, stalls); err != nil {
			return false, err
		}
	}
}

// withoutParents fills in the parents' entity type and returns the ids of parents
// that do not exist or are deleted.
func (r *Repository[C, P]) withoutParents(ctx context.Context, tenant string, entities []any) ([]string, error) {
	ids, err := r.parentsOf(entities)
	if err != nil {
		return nil, err
	}
	return r.deadParents(ctx, tenant, ids, entities)
}

// parentsOf fills in the parents' entity type and returns the distinct ids.
func (r *Repository[C, P]) parentsOf(entities []any) ([]string, error) {
	var ids []string
	for _, e := range entities {
		child, ok := e.(*C)
		if !ok {
			continue
		}
		parentID, entityType := r.link(child)
		*entityType = r.parents.EntityType()
		if *parentID == "" {
			if r.node.parent.rule == Orphan && engine.MetaOf(child).ETag != "" {
				continue // its parent was deleted
			}
			return nil, &DanglingError{Field: parentField}
		}
		if err := tenantitem.ValidateID(string(*parentID)); err != nil {
			return nil, err
		}
		ids = append(ids, string(*parentID))
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// maxParentsPerQuery keeps the text of a query by ids short.
const maxParentsPerQuery = 500

// deadParents returns those of the parents that do not exist or are deleted.
func (r *Repository[C, P]) deadParents(ctx context.Context, tenant string, ids []string, entities []any) ([]string, error) {
	parents := engine.CollectionOf(r.parents)
	var dead []string
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		parent, sibling := parents.Sibling(ctx, id)
		if sibling && parent == nil {
			dead = append(dead, id)
		}
		return sibling
	})
	if len(ids) == 0 {
		return dead, nil
	}
	if len(ids) == 1 {
		outline, err := parents.Outline(ctx, tenant, r.parentKey(ids[0], entities), ids[0])
		switch {
		case errors.Is(err, repository.ErrNotFound):
			return append(dead, ids...), nil
		case err != nil:
			return nil, err
		case outline.DeletedAt != "":
			return append(dead, ids...), nil
		}
		return dead, nil
	}
	for chunk := range slices.Chunk(ids, maxParentsPerQuery) {
		alive := map[string]bool{}
		for outline, err := range parents.Documents(ctx, tenant, nil, engine.Where(engine.In("id", anys(chunk)...)), engine.Outline()) {
			if err != nil {
				return nil, err
			}
			alive[outline.ID] = alive[outline.ID] || outline.DeletedAt == ""
		}
		for _, id := range chunk {
			if !alive[id] {
				dead = append(dead, id)
			}
		}
	}
	return dead, nil
}

// parentKey is what a child tells of where its parent lies: nothing under the
// default key; the parent's id, or a key field that both have.
func (r *Repository[C, P]) parentKey(parentID string, entities []any) []any {
	var key []any
	for i, path := range engine.CollectionOf(r.parents).KeyPaths() {
		switch {
		case i == 0 || path == "/entityType":
		case path == "/id":
			key = append(key, parentID)
		default:
			field, ok := r.children.Model().Field(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
			if !ok || len(entities) != 1 || !slices.Contains(r.ownLevels(), path) {
				return key
			}
			value, ok := field.Value(reflect.ValueOf(entities[0]).Elem())
			if !ok || value.IsZero() {
				return key
			}
			key = append(key, value.Interface())
		}
	}
	return key
}

func (r *Repository[C, P]) dangling(id string) error {
	return &DanglingError{Field: parentField, EntityType: r.parents.EntityType(), ID: id}
}

func anys(ids []string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

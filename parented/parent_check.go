package parented

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// beforeWrite refuses children whose parent is not there. It reads every
// parent once, however many children there are.
func (r *children) beforeWrite(ctx context.Context, tenant string, entities []any) error {
	dead, err := r.withoutParents(ctx, tenant, entities)
	if err != nil || len(dead) == 0 {
		return err
	}
	return r.dangling(dead[0])
}

// Stored looks again. A delete of the parent that began after the first
// look may have made its own last look before the child was stored; one of the
// two always sees the other. What was created and is removed here was refused; what
// the delete had taken before was there before it, and comes back with its restore. What was written over
// something is not removed: that may have been a child of another parent; nor what others have changed since.
func (r *children) Stored(ctx context.Context, tenant string, entities []any, created bool) error {
	dead, err := r.withoutParentsSince(ctx, tenant, entities)
	if err != nil || len(dead) == 0 {
		return r.enqueueChecks(tenant, entities, created, err)
	}
	written, removed := 0, 0
	var left *DanglingError
	for _, child := range r.among(entities) {
		written++
		if !slices.ContainsFunc(dead, r.parentNamedBy(child).same) {
			continue
		}
		gone, err := r.followParent(ctx, tenant, child, created)
		if errors.As(err, &left) {
			continue
		}
		if err != nil {
			return r.enqueueChecks(tenant, entities, created, err)
		}
		if gone {
			removed++
		}
	}
	switch {
	case left != nil:
		return fmt.Errorf("%w: it is stored, and its parent was deleted meanwhile (restore or create the parent, or delete the child): %w", repository.ErrAmbiguous, left)
	case !created || removed == 0:
		return nil
	case removed < written:
		return fmt.Errorf("%w: of what was written together only a part is stored: %w", repository.ErrAmbiguous, r.dangling(dead[0]))
	}
	return r.dangling(dead[0])
}

// followParent does to one child what the delete of its parent would have done. It
// reports whether it removed the child; not one that the delete has already.
func (r *children) followParent(ctx context.Context, tenant string, child any, created bool) (removed bool, err error) {
	meta := engine.MetaOf(child)
	key, err := r.keyOf(child)
	if err != nil {
		return false, err
	}
	for attempts := 0; ; attempts++ {
		outline, err := r.forest.outlineAfterMove(ctx, r.node, tenant, key, meta.ID)
		switch {
		case !created && errors.Is(err, repository.ErrNotFound):
			return false, nil
		case errors.Is(err, repository.ErrNotFound), err == nil && outline.DeletedAt != "" && outline.Journal == nil:
			meta.ETag = ""
			return true, nil
		case err != nil:
			return false, err
		case created && !r.node.parent.namedBy(outline).same(r.parentNamedBy(child)):
			return false, nil // it was there before the delete, and has moved
		case !created || underWay(outline, phaseDescendant) || outline.DeletedAt == "" && outline.ETag != meta.ETag:
			return false, r.forest.followDelete(ctx, r.node.parent, tenant, outline)
		case outline.DeletedAt != "":
			return false, nil
		}
		done, err := r.forest.takeBack(ctx, r.node, tenant, outline)
		switch {
		case done:
			meta.ETag = ""
			return true, nil
		case err != nil && !errors.Is(err, repository.ErrNotFound) && !errors.Is(err, repository.ErrAmbiguous):
			return false, err
		}
		// It was hidden or removed between the two requests.
		if err := r.forest.nextAttempt(ctx, attempts); err != nil {
			return false, err
		}
	}
}

// takeBack deletes what a refused create has stored, for good, if nobody has changed it since. It reports false where
// somebody has.
func (f *Forest) takeBack(ctx context.Context, n *node, tenant string, child engine.Document) (bool, error) {
	if len(n.children) == 0 {
		done, err := retention{forest: f}.finish(ctx, n, []engine.Document{child}, 0, engine.Journal{})
		return done == 1, err
	}
	d := engine.Deletion{TenantID: tenant, Key: f.given(n, child), ID: child.ID}
	marks, err := f.begin(ctx, n, d, child)
	if err != nil || len(marks) == 0 {
		return false, err
	}
	if err := f.carryOut(ctx, n, tenant, marks[0]); err != nil || n.policy.Retain == 0 {
		return err == nil, unfinished("delete", err)
	}
	root, err := f.enterPhase(ctx, n, d, phasePurging, func(root engine.Document) error {
		if !sameRun(root, marks[0]) {
			return repository.ErrNotFound // it was restored meanwhile
		}
		return nil
	})
	if err == nil {
		err = unfinished("purge", f.carryOut(ctx, n, tenant, root))
	}
	if errors.Is(err, repository.ErrNotFound) {
		err = nil
	}
	return err == nil, err
}

// withoutParents fills in the parents' entity type and returns the parents
// that do not exist or are deleted.
func (r *children) withoutParents(ctx context.Context, tenant string, entities []any) ([]parentRef, error) {
	parents, err := r.parentsOf(entities)
	if err != nil {
		return nil, err
	}
	return r.deadParents(ctx, tenant, parents, entities)
}

// withoutParentsSince is withoutParents after the write. Where the transaction of the write has
// read the parent, that look is as good as a later one: a delete that begins after the
// transaction has its mark behind the child in the same logical partition, and sees the child.
func (r *children) withoutParentsSince(ctx context.Context, tenant string, entities []any) ([]parentRef, error) {
	parents, err := r.parentsOf(entities)
	if err != nil {
		return nil, err
	}
	if len(parents) == 1 {
		if parent, ok := r.parents.ReadByTransaction(ctx, parents[0].id); ok {
			if parent.DeletedAt == "" {
				return nil, nil
			}
			return parents, nil
		}
	}
	return r.deadParents(ctx, tenant, parents, entities)
}

// readWithWrite names the parent of all entities, if it lies in their logical partition.
func (r *children) readWithWrite(at *engine.Partition, entities []any) (engine.JoinedRead, bool) {
	parents, err := r.parentsOf(entities)
	if err != nil || len(parents) != 1 {
		return engine.JoinedRead{}, false
	}
	collection := r.parents
	read := engine.JoinedRead{Collection: collection, ID: parents[0].id, Missing: r.dangling(parents[0])}
	return read, collection.LiesIn(at, r.node.Collection, r.parentKey(parents[0], entities))
}

// parentNamedBy is the parent that a child names.
func (r *children) parentNamedBy(child any) parentRef {
	id, _ := parentFields(child)
	return r.node.parent.namedByEntity(child, *id)
}

// parentsOf fills in the parents' entity type and returns the distinct parents.
func (r *children) parentsOf(entities []any) ([]parentRef, error) {
	var parents []parentRef
	seen := map[string]bool{}
	for _, child := range r.among(entities) {
		parentID, entityType := parentFields(child)
		*entityType = r.parents.EntityType()
		if *parentID == "" {
			if r.node.parent.rule == Orphan && engine.MetaOf(child).ETag != "" {
				continue // its parent was deleted
			}
			return nil, &DanglingError{Field: parentField}
		}
		if err := tenantitem.ValidateID(*parentID); err != nil {
			return nil, err
		}
		parent := r.parentNamedBy(child)
		if !parent.whole() {
			return nil, r.node.parent.errHalfNamed(parent)
		}
		if text := parent.text(); !seen[text] {
			seen[text] = true
			parents = append(parents, parent)
		}
	}
	slices.SortFunc(parents, func(a, b parentRef) int { return strings.Compare(a.text(), b.text()) })
	return parents, nil
}

// errHalfNamed refuses a child whose parentId names several parents, for all that is known.
func (r *relation) errHalfNamed(parent parentRef) error {
	var empty []string
	for i, level := range r.levels {
		if parent.levels[i] == nil {
			empty = append(empty, level.field.Path)
		}
	}
	return &tenantitem.InvalidError{
		What:   "child " + r.child.EntityType(),
		Reason: fmt.Sprintf("an id alone does not name a %s, and its %s is not known", r.parent.EntityType(), strings.Join(empty, ", ")),
		Hint:   fmt.Sprintf("fill %s of the child, or name the whole parent: Under(parent), or the further values of its key behind the id, as In takes them", strings.Join(empty, ", ")),
	}
}

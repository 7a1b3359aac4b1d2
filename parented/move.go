package parented

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Move gives a child another parent; its own children go with it. It fails
// with [repository.ErrDanglingRef] when the new parent does not exist or is
// being deleted, and the child stays where it was. It is not possible
// ([repository.ErrInvalid]) where the parent's id is part of the children's partition key, since documents
// can't change their partition, nor for buckets. A cycle can't arise: entity types form a tree
// (relate in forest.go), so that a new parent is never below the child.
//
// The key is of the new parent, as [RepositoryOf.UnderID] takes it. Where a level of
// it is part of the children's key as well, a child moves within that partition
// only, and one that lies elsewhere is [repository.ErrNotFound].
//
//go:noinline
func (r *RepositoryOf[C, P]) Move(ctx context.Context, tenant, id string, to tenantitem.RefTo[P], key ...any) error {
	return r.children.Move(ctx, tenant, id, string(to), key)
}

// Move is the verb: move with an error that names the child.
func (r *children) Move(ctx context.Context, tenant, id, to string, key []any) error {
	if err := r.move(ctx, tenant, id, to, key); err != nil {
		var already *repository.Error
		if errors.As(err, &already) {
			return err
		}
		return &repository.Error{Op: "Move", EntityType: r.node.EntityType(), TenantID: tenant, ID: id, Err: err}
	}
	return nil
}

func (r *children) move(ctx context.Context, tenant, id, parent string, key []any) error {
	if err := checkTenant(ctx, tenant); err != nil {
		return err
	}
	if err := errors.Join(r.checkTenant(tenant), tenantitem.ValidateID(id), tenantitem.ValidateID(parent)); err != nil {
		return err
	}
	if r.buckets {
		return fmt.Errorf("%w: the ids of a bucket's entries name it by its parent (append them to the other parent, and delete them here)", repository.ErrInvalid)
	}
	if slices.Contains(r.node.GivenFields(), parentField) {
		return fmt.Errorf("%w: the parent's id is part of the partition key (create the child again under the new parent)", repository.ErrInvalid)
	}
	to, err := r.parentRef(tenant, parent, key)
	if err == nil && !to.whole() {
		err = r.node.parent.errHalfNamed(to)
	}
	if err != nil {
		return err
	}
	if err := r.alive(ctx, tenant, to); err != nil {
		return err
	}
	for attempts := 0; ; attempts++ {
		child, err := r.childByID(ctx, tenant, r.node.parent.childKey(to), id, r.node.parent.sameKey(to)...)
		if err != nil {
			return err
		}
		if child.DeletedAt != "" {
			return repository.ErrNotFound
		}
		if child.Moving != "" { // another move has not come to its end
			if child, err = r.forest.finishMove(ctx, r.node, tenant, child); err != nil {
				return err
			}
			if child.ID == "" || child.DeletedAt != "" {
				continue
			}
		}
		from := r.node.parent.namedBy(child)
		if from.same(to) {
			return nil
		}
		if err := r.node.parent.errNoObject(from); err != nil {
			return err
		}
		moved, err := r.reparent(ctx, child, to, r.reserved(from))
		if err != nil {
			return err
		}
		if len(moved) == 1 {
			return r.arrived(ctx, tenant, moved[0], from)
		}
		if err := r.forest.nextAttempt(ctx, attempts); err != nil {
			return err
		}
	}
}

// reserved is what the write of a move leaves in the child, so that the former
// parent is not deleted without it while it may have to go back.
func (r *children) reserved(from parentRef) string {
	if r.node.parent.tracksMoves() {
		return r.node.parent.moveMark(from)
	}
	return ""
}

// arrived looks at the new parent again, as a create does. A child that came
// too late goes back to where it was, unless the delete of its new parent, or
// another move, has taken it meanwhile: then it moved before that.
func (r *children) arrived(ctx context.Context, tenant string, child engine.Document, from parentRef) error {
	for attempts := 0; ; attempts++ {
		at := r.node.parent.namedBy(child)
		gone := r.alive(ctx, tenant, at)
		dead := errors.Is(gone, repository.ErrDanglingRef)
		if gone != nil && !dead {
			return r.movedBut(tenant, child, gone)
		}
		if !dead && child.Moving == "" {
			return nil
		}
		to := from
		if !dead {
			to = at
		}
		ended, err := r.reparent(ctx, child, to, "")
		switch {
		case len(ended) == 1 && dead:
			return r.returned(ctx, tenant, ended[0], gone)
		case len(ended) == 1:
			return nil
		}
		if err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return r.movedBut(tenant, child, err)
		}
		now, err := r.node.Outline(ctx, tenant, r.forest.given(r.node, child), child.ID)
		switch {
		case errors.Is(err, repository.ErrNotFound):
			return nil
		case err != nil:
			return r.movedBut(tenant, child, err)
		case from.id != "" && r.node.parent.namedBy(now).same(from):
			return r.returned(ctx, tenant, now, r.dangling(at))
		case now.DeletedAt != "" || !r.node.parent.namedBy(now).same(at):
			return nil
		case child.Moving != "" && now.Moving == "":
			return nil // another process has seen it there, and the new parent alive
		}
		child = now
		if err := r.forest.nextAttempt(ctx, attempts); err != nil {
			return r.movedBut(tenant, child, err)
		}
	}
}

// movedBut is the error of a move after which the new parent could not be looked
// at. Where no mark tells of the move, the forest checks the child later (parent_recheck.go).
func (r *children) movedBut(tenant string, child engine.Document, err error) error {
	if child.Moving == "" {
		r.forest.enqueueCheck(pendingCheck{node: r.node, tenant: tenant, key: r.forest.given(r.node, child), id: child.ID})
	}
	return storedBut(err)
}

// returned looks whether the parent that a child came back to is still there,
// where no mark kept that, and returns why the child did not move.
func (r *children) returned(ctx context.Context, tenant string, child engine.Document, why error) error {
	if child.ParentID == "" || r.node.parent.tracksMoves() {
		return why
	}
	err := r.alive(ctx, tenant, r.node.parent.namedBy(child))
	if errors.Is(err, repository.ErrDanglingRef) {
		err = r.forest.applyRule(ctx, r.node.parent, tenant, child)
	}
	if err != nil {
		return r.movedBut(tenant, child, err)
	}
	return why
}

// reparent is the move itself: one patch of the child, under its etag. Nothing is created or removed.
func (r *children) reparent(ctx context.Context, child engine.Document, to parentRef, reserved string) ([]engine.Document, error) {
	return r.node.Edit(ctx, []engine.Document{child}, func(s engine.Document) engine.Document {
		s = r.node.parent.setParent(s, to)
		s.Moving = reserved
		return s
	})
}

// checkTenant refuses a tenant that is not the one of the context.
func checkTenant(ctx context.Context, tenant string) error {
	if bound, ok := engine.TenantFrom(ctx); ok && bound != tenant {
		return repository.ErrTenantMismatch
	}
	return nil
}

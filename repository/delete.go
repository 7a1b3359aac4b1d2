package repository

import (
	"context"
	"net/http"

	"github.com/cosmosgrove/grove/internal/engine"
)

// DeleteOptions narrow a delete; nil is none.
type DeleteOptions struct {
	// ETag deletes only the document that was read; another is
	// [ErrPreconditionFailed]. Defaults to any.
	ETag string
	// Plan is the Token of a [DeletePlan]: the delete takes no more documents of any entity type
	// than that plan showed, and fails with a parented.PlanChangedError where there are more now; which ones they are
	// is not compared. What has children of its own costs a mark for each document, about 10 RU, before it is decided.
	// Defaults to none.
	Plan string
}

// Delete removes a document and applies the delete rules that were declared
// for its entity type. It fails with [ErrNotFound] when there is none.
//
// With a soft delete (registry.SoftDelete) the document stays for a while, hidden
// from every read, and Restore brings it back.
//
// Where the container's key does not hold the entity type, a delete without an
// ETag first asks, for about 3 RU, whether the id is that of another entity type's
// document; that is [ErrEntityMismatch]. Where it does not hold the tenant, every
// delete asks, and another tenant's document is [ErrTenantMismatch].
//
// A delete leaves no mark. When its answer was lost, it is [ErrAmbiguous],
// whatever is there now, except that one with an ETag is repeated while the
// document still has it.
//
//go:noinline
func (s *ScopeOf[P]) Delete(ctx context.Context, id string, opts *DeleteOptions) error {
	return s.Reader.scope.Delete(ctx, id, opts)
}

func (s *scope) Delete(ctx context.Context, id string, opts *DeleteOptions) error {
	k := engine.Call{Collection: s.c, Op: "Delete", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	s, err := s.startPoint(ctx, &k)
	if err != nil {
		return k.End(err)
	}
	var o DeleteOptions
	if opts != nil {
		o = *opts
	}
	d := engine.Deletion{TenantID: s.at.Tenant, Key: k.Collection.Given(s.at.Values), ID: id, ETag: o.ETag}
	if o.Plan != "" {
		if d.Confirmed, err = engine.ReadToken(o.Plan, k.Collection.EntityType(), d); err != nil {
			return k.End(err)
		}
	}
	return k.End(s.deleteWith(ctx, &k, d))
}

// deleteWith deletes a document under the delete rules of its entity type. A
// soft delete, and one of what has children, is a delete policy's: that of
// package parented: parented/delete.go and parented/retention.go. Any other is remove.
func (s *scope) deleteWith(ctx context.Context, k *engine.Call, d engine.Deletion) error {
	if err := k.Collection.AllowDelete(ctx, d); err != nil {
		return err
	}
	d.Remove = func(ctx context.Context, etag string) error { return s.remove(ctx, k, etag) }
	if policy := k.Collection.DeletePolicy(); policy != nil {
		return policy.CarryOut(ctx, d)
	}
	return d.Remove(ctx, d.ETag)
}

func (s *scope) remove(ctx context.Context, k *engine.Call, etag string) error {
	if k.Collection.LooksFirst(etag, nil) {
		if err := k.RefuseForeign(ctx, &s.at, k.ID); err != nil {
			return err
		}
	}
	var err error
	for _, partition := range k.Collection.PartitionsOf(s.at) {
		op := engine.Operation{ID: k.ID, ETag: etag}
		op.Deletes(k.Collection)
		if _, err = k.WriteOne(ctx, &partition, op); engine.StatusOf(err) != http.StatusNotFound {
			return err
		}
	}
	return err
}

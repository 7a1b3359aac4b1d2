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
}

// Delete removes a document and applies the delete rules that were declared
// for its species. It fails with [ErrNotFound] when there is none.
//
// Where the container's key does not hold the entity type, a delete without an
// ETag first asks, for about 3 RU, whether the id is that of another species'
// document; that is [ErrEntityMismatch].
//
// A delete leaves no mark. When its answer was lost, it is [ErrAmbiguous],
// whatever is there now, except that one with an ETag is repeated while the
// document still has it.
func (s *Scope[T]) Delete(ctx context.Context, id string, opts *DeleteOptions) error {
	k := engine.Call{Collection: s.repo.core(), Op: "Delete", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	s, err := s.startPoint(ctx, &k)
	if err != nil {
		return k.End(err)
	}
	var etag string
	if opts != nil {
		etag = opts.ETag
	}
	return k.End(s.deleteWith(ctx, &k, etag))
}

// deleteWith deletes a document under the delete rules of its species.
func (s *Scope[T]) deleteWith(ctx context.Context, k *engine.Call, etag string) error {
	d := engine.Deletion{TenantID: s.at.Tenant, Key: k.Collection.Given(s.at.Values), ID: k.ID, ETag: etag}
	if err := k.Collection.BeforeDelete(ctx, d); err != nil {
		return err
	}
	d.Remove = func(ctx context.Context, etag string) error { return s.remove(ctx, k, etag) }
	if hook := k.Collection.Hooks.Delete; hook != nil {
		return hook(ctx, d)
	}
	return d.Remove(ctx, etag)
}

func (s *Scope[T]) remove(ctx context.Context, k *engine.Call, etag string) error {
	if etag == "" {
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

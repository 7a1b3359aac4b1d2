package repository

import (
	"context"
	"net/http"
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
	k := call{core: s.repo.core, op: "Delete", at: &s.at, id: id}
	ctx = k.begin(ctx)
	if err := s.startPoint(ctx, &k); err != nil {
		return k.end(err)
	}
	var etag string
	if opts != nil {
		etag = opts.ETag
	}
	return k.end(s.deleteWith(ctx, &k, etag))
}

// deleteWith deletes a document under the delete rules of its species.
func (s *Scope[T]) deleteWith(ctx context.Context, k *call, etag string) error {
	d := Deletion{TenantID: s.at.tenant, Key: k.core.given(s.at.values), ID: k.id, ETag: etag}
	if err := k.core.beforeDelete(ctx, d); err != nil {
		return err
	}
	d.Remove = func(ctx context.Context, etag string) error { return s.remove(ctx, k, etag) }
	if hook := k.core.hooks.Delete; hook != nil {
		return hook(ctx, d)
	}
	return d.Remove(ctx, etag)
}

func (c *core) beforeDelete(ctx context.Context, d Deletion) error {
	for _, hook := range c.hooks.BeforeDelete {
		if err := hook(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scope[T]) remove(ctx context.Context, k *call, etag string) error {
	if etag == "" {
		if err := k.refuseForeign(ctx, &s.at, k.id); err != nil {
			return err
		}
	}
	var err error
	for _, home := range k.core.partitionsOf(s.at) {
		op := operation{id: k.id, etag: etag}
		op.deletes(k.core)
		if _, err = k.writeOne(ctx, &home, op); statusOf(err) != http.StatusNotFound {
			return err
		}
	}
	return err
}

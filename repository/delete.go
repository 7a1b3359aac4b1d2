package repository

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
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
// A delete without an ETag is repeated when its answer was lost and the
// document is still there. Where ids are used again, give the ETag: such a
// repetition can't tell the document from one that was created since.
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
	var missing error
	absent := false
	for _, home := range k.core.homes(s.at) {
		seen, err := k.removeFrom(ctx, &home, etag)
		switch {
		case statusOf(err) == http.StatusNotFound:
			missing = err
		case err != nil || seen:
			return err
		default:
			absent = true
		}
	}
	if absent {
		return nil
	}
	return missing
}

// removeFrom deletes a document from one of its homes. When the answer was
// lost and the document is not there, it may never have been: seen is false.
func (k *call) removeFrom(ctx context.Context, at *partition, etag string) (seen bool, err error) {
	if k.core.hooks.Beside != nil {
		op := batchOp{verb: "Delete", id: k.id, etag: etag}
		if op.deletes(k.core); op.concerns() {
			if len(k.core.homes(*at)) > 1 {
				// After a lost answer nothing would tell whether it was here.
				if _, err := k.readItem(ctx, at); err != nil {
					return true, err
				}
			}
			_, err := k.besideOne(ctx, at, op)
			return true, err
		}
	}
	seen = true
	err = k.write(ctx, func(ctx context.Context) (azcosmos.Response, error) {
		resp, err := k.core.container.DeleteItem(ctx, at.key, k.id, writeOptions(ctx, etag))
		return resp.Response, err
	}, func(ctx context.Context) (outcome, error) {
		raw, err := k.readItem(ctx, at)
		if statusOf(err) == http.StatusNotFound {
			seen = false
			return applied, nil
		}
		if err != nil {
			return unknown, err
		}
		doc, err := readStored(raw)
		if err != nil {
			return unknown, err
		}
		// A delete leaves no stamp. What is there was not removed, or was
		// created again since; only the etag tells these apart.
		if etag != "" && doc.ETag != etag {
			return unknown, nil
		}
		return notApplied, nil
	})
	return seen, err
}

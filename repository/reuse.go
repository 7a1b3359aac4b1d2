package repository

import (
	"context"
	"errors"
	"net/http"
)

// createAnew is createItem where the id may be taken by a document that was
// deleted and is only kept for a while: that one is overwritten, and a delete
// that is still under way is finished first.
func (s *Scope[T]) createAnew(ctx context.Context, k *call, at *partition, body []byte, stamp string) (etag string, err error) {
	etag, err = k.createItem(ctx, at, body, stamp)
	if !k.core.tombstones || statusOf(err) != http.StatusConflict {
		return etag, err
	}
	key := k.core.given(at.values)
	kept, lookErr := (&Species{k.core}).Stub(ctx, at.tenant, key, k.id)
	switch {
	case errors.Is(lookErr, ErrNotFound):
		return "", err // the conflict is about a unique key
	case lookErr != nil:
		return "", lookErr
	case kept.DeletedAt == "":
		return "", err
	case kept.TTL > 0:
		etag, replaceErr := k.replaceItem(ctx, at, body, stamp, basis{etag: kept.ETag})
		if isRefusal(replaceErr) {
			return "", err // another create was faster
		}
		return etag, replaceErr
	}
	hook := k.core.hooks.Delete
	if hook == nil {
		return "", err
	}
	if finishErr := hook(ctx, Deletion{TenantID: at.tenant, Key: key, ID: k.id}); finishErr != nil && !errors.Is(finishErr, ErrNotFound) {
		return "", errors.Join(err, finishErr)
	}
	return k.createItem(ctx, at, body, stamp)
}

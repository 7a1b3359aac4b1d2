package repository

import (
	"context"
	"errors"
	"net/http"
)

// createAnew is createItem where the id may be taken by a document that was
// deleted and is only kept for a while: that one is overwritten, and a delete
// that is still under way is finished first.
func (s *Scope[T]) createAnew(ctx context.Context, k *call, at *partition, entity *T, body []byte, mark string) (etag string, err error) {
	etag, err = k.createItem(ctx, at, entity, body, mark)
	if !k.core.tombstones || statusOf(err) != http.StatusConflict {
		return etag, err
	}
	conflict := err
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
		if body, err = s.refill(ctx, k, at, entity, kept.ETag, body, mark); err != nil {
			return "", err
		}
		etag, replaceErr := k.replaceItem(ctx, at, entity, body, mark, kept.ETag, nil)
		if isRefusal(replaceErr) {
			return "", conflict // another create was faster
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
	return k.createItem(ctx, at, entity, body, mark)
}

// refill lets hooks see what the new document takes the place of: it may have
// references that somebody still has to follow.
func (s *Scope[T]) refill(ctx context.Context, k *call, at *partition, entity *T, etag string, body []byte, mark string) ([]byte, error) {
	if len(k.core.hooks.Fill) == 0 {
		return body, nil
	}
	raw, err := k.readItem(ctx, at)
	if err != nil {
		return nil, err
	}
	if readMarks(raw).ETag != etag {
		return body, nil // the replacement is about to be refused
	}
	w := writeOf(s.at.tenant, []*T{entity})
	w.New[0], w.Before[0] = true, raw
	for _, hook := range k.core.hooks.Fill {
		if err := hook(ctx, w); err != nil {
			return nil, err
		}
	}
	return s.encode(entity, []string{createdRoot + mark}, w.hidden[0])
}

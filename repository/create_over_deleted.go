package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/cosmosgrove/grove/internal/engine"
)

// createAnew is [engine.Call.CreateItem] where the id may be taken by a document that was
// deleted and is only kept for a while: that one is overwritten, and a delete
// that is still under way is finished first. What was overwritten can't be brought back, so that
// such a create is not taken back as others are, but goes with the delete of its parent.
func (s *scope) createAnew(ctx context.Context, k *engine.Call, at *engine.Partition, entity any, body []byte, mark string) (etag string, overwrote bool, err error) {
	for attempts := 0; ; attempts++ {
		etag, err = k.CreateItem(ctx, at, entity, body, mark)
		if !k.Collection.Tombstones || engine.StatusOf(err) != http.StatusConflict {
			return etag, false, err
		}
		kept, lookErr := k.Collection.Outline(ctx, at.Tenant, k.Collection.Given(at.Values), k.ID)
		switch {
		case errors.Is(lookErr, ErrNotFound), errors.Is(lookErr, ErrEntityMismatch), errors.Is(lookErr, ErrTenantMismatch):
			return "", false, err // the conflict is about a unique key, or with another entity type's or tenant's document
		case lookErr != nil:
			return "", false, lookErr
		case kept.DeletedAt == "":
			return "", false, err
		case kept.TTL > 0:
			return s.createOver(ctx, k, at, kept, entity, body, mark)
		case attempts > maxFinished:
			return "", false, err
		}
		if err := finishDelete(ctx, k, at.Tenant, kept, err); err != nil {
			return "", false, err
		}
	}
}

// maxFinished is how often a create ends the delete of what has its id: others may delete it, soft, again.
const maxFinished = 2

// finishDelete ends the delete that hides a document, and no other. Where there are no rules to follow, its
// error is the conflict.
func finishDelete(ctx context.Context, k *engine.Call, tenant string, hidden engine.Document, conflict error) error {
	policy := k.Collection.DeletePolicy()
	if policy == nil {
		return conflict
	}
	if err := policy.Finish(ctx, tenant, hidden); err != nil {
		return errors.Join(conflict, err)
	}
	return nil
}

// createOver writes over a document that was deleted and is kept.
func (s *scope) createOver(ctx context.Context, k *engine.Call, at *engine.Partition, kept engine.Document, entity any, body []byte, mark string) (etag string, overwrote bool, err error) {
	// It may have been deleted since the validators looked, with what the new one names.
	if err := s.c.Validate(ctx, s.at.Tenant, entity); err != nil {
		return "", false, engine.Foreign(err)
	}
	if body, err = s.refill(ctx, k, at, entity, kept.ETag, body, mark); err != nil {
		return "", false, err
	}
	etag, err = k.ReplaceItem(ctx, at, entity, body, mark, kept.ETag, nil)
	if engine.IsRefusal(err) {
		return "", false, &engine.Refusal{Status: http.StatusConflict} // another create was faster
	}
	return etag, kept.Journal != nil, err // a tombstone holds nothing to be restored
}

// refill lets hooks see what the new document takes the place of: it may have
// references that the keeper of copies still has to follow.
func (s *scope) refill(ctx context.Context, k *engine.Call, at *engine.Partition, entity any, etag string, body []byte, mark string) ([]byte, error) {
	if !k.Collection.Fills() {
		return body, nil
	}
	raw, err := k.ReadItem(ctx, at)
	if err != nil {
		return nil, err
	}
	if engine.ReadMarks(raw).ETag != etag {
		return body, nil // the replacement is about to be refused
	}
	w := engine.WriteOf(s.at.Tenant, []any{entity})
	w.New[0], w.Before[0] = true, raw
	if err := k.Collection.Fill(ctx, w); err != nil {
		return nil, err
	}
	return s.encode(entity, []string{engine.CreatedRoot + mark}, w.Hidden[0])
}

package engine

import (
	"context"
)

// ReplaceItem replaces a document that still has the etag, and returns the new
// one. before is what it replaces, where that is known.
func (k *Call) ReplaceItem(ctx context.Context, at *Partition, entity any, body []byte, mark, etag string, before *Marked) (string, error) {
	op := Operation{ID: k.ID, Mark: mark, ETag: etag, Before: before, Entity: entity}
	op.Writes(k.Collection, OpReplace, body)
	done, err := k.WriteOne(ctx, at, op)
	return done.ETag, err
}

// UpsertItem stores a document whatever is there and returns its etag.
func (k *Call) UpsertItem(ctx context.Context, at *Partition, entity any, body []byte, mark string) (etag string, err error) {
	op := Operation{ID: k.ID, Mark: mark, Entity: entity}
	op.Writes(k.Collection, OpUpsert, body)
	done, err := k.WriteOne(ctx, at, op)
	return done.ETag, err
}

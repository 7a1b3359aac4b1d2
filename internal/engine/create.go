package engine

import "context"

// CreateItem stores a new document and returns its etag.
func (k *Call) CreateItem(ctx context.Context, at *Partition, entity any, body []byte, mark string) (etag string, err error) {
	op := Operation{ID: k.ID, Mark: mark, Entity: entity}
	op.Writes(k.Collection, OpCreate, body)
	done, err := k.WriteOne(ctx, at, op)
	return done.ETag, err
}

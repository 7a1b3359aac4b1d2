package engine

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// CreateItem stores a new document and returns its etag.
func (k *Call) CreateItem(ctx context.Context, at *Partition, entity any, body []byte, mark string) (etag string, err error) {
	op := Operation{ID: k.ID, Mark: mark, Entity: entity}
	op.Writes(k.Collection, OpCreate, body)
	done, err := k.WriteOne(ctx, at, op)
	return done.ETag, err
}

// ReplaceItem replaces a document that still has the etag, and returns the new
// one. before is what it replaces, where that is known.
func (k *Call) ReplaceItem(ctx context.Context, at *Partition, entity any, body []byte, mark, etag string, before *Marked) (string, error) {
	op := Operation{ID: k.ID, Mark: mark, ETag: etag, Before: before, Entity: entity}
	op.Writes(k.Collection, OpReplace, body)
	done, err := k.WriteOne(ctx, at, op)
	return done.ETag, err
}

// UpsertItem stores a document whatever is there and returns its etag. created says that nothing
// was there; where the answer was lost, nobody knows, and it is false.
func (k *Call) UpsertItem(ctx context.Context, at *Partition, entity any, body []byte, mark string) (etag string, created bool, err error) {
	op := Operation{ID: k.ID, Mark: mark, Entity: entity}
	op.Writes(k.Collection, OpUpsert, body)
	done, err := k.WriteOne(ctx, at, op)
	return done.ETag, done.Status == http.StatusCreated, err
}

// WriteOne applies one operation of a verb with what has to change with it.
// The error is what the service answered about the operation itself.
func (k *Call) WriteOne(ctx context.Context, at *Partition, op Operation) (Result, error) {
	one := Call{Collection: k.Collection, Op: k.Op, At: at, ID: k.ID, throttled: k.throttled, Watch: k.Watch, contents: op.Kind == OpPatch}
	results, err := one.transact(ctx, []Operation{op}, false)
	if err == nil {
		return results[0], nil
	}
	var failed *BatchError
	if errors.As(err, &failed) && !errors.Is(err, ErrAmbiguous) {
		err = &Refusal{Status: failed.Status, response: &azcore.ResponseError{StatusCode: failed.Status, ErrorCode: strconv.Itoa(failed.Status)}}
	}
	return Result{}, err
}

package cosmos

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// ReadItem reads one document.
func ReadItem(ctx context.Context, c *Container, key PartitionKey, id string, o Options) (Result, Answer, error) {
	x := keepBody(ctx, true)
	r, err := c.ReadItem(ctx, key, id, &azcosmos.ItemOptions{SessionToken: o.Session, PriorityLevel: o.Priority, ThroughputBucket: o.Bucket})
	return resultOf(r, x), answerOf(r.Response), err
}

// ReadItemUnder reads one document whose partition key is given as the
// service's header has it, a JSON array. The SDK has no form for a missing
// value, and one of its own for some characters.
func ReadItemUnder(ctx context.Context, c *Container, key, id string, o Options) (Result, Answer, error) {
	return ReadItem(withHeader(ctx, http.Header{headerPartitionKey: {key}}), c, NewPartitionKey(), id, o)
}

// Write sends one operation by a request of its own; the etag that it requires becomes If-Match
// here, and of an operation in a batch in Add of batch.go.
func Write(ctx context.Context, c *Container, key PartitionKey, op Operation, o Options) (Result, Answer, error) {
	x := keepBody(ctx, o.Contents || op.Kind == OpRead)
	options := &azcosmos.ItemOptions{
		SessionToken: o.Session, PriorityLevel: o.Priority, ThroughputBucket: o.Bucket,
		EnableContentResponseOnWrite: o.Contents, IfMatchEtag: etagOption(op.ETag),
	}
	var r azcosmos.ItemResponse
	var err error
	switch op.Kind {
	case OpCreate:
		r, err = c.CreateItem(ctx, key, op.Body, options)
	case OpReplace:
		r, err = c.ReplaceItem(ctx, key, op.ID, op.Body, options)
	case OpUpsert:
		r, err = c.UpsertItem(ctx, key, op.Body, options)
	case OpPatch:
		r, err = c.PatchItem(ctx, key, op.ID, op.Patch.operations(), options)
	case OpDelete:
		r, err = c.DeleteItem(ctx, key, op.ID, options)
	case OpRead:
		r, err = c.ReadItem(ctx, key, op.ID, options)
	}
	return resultOf(r, x), answerOf(r.Response), err
}

// keepBody lets the context's exchange take the body of the answer, where there
// is one.
func keepBody(ctx context.Context, keep bool) *Exchange {
	x := exchangeFrom(ctx)
	if x != nil {
		x.KeepBody = keep
	}
	return x
}

func resultOf(r azcosmos.ItemResponse, x *Exchange) Result {
	result := Result{ETag: string(r.ETag), Body: r.Value}
	if r.RawResponse != nil {
		result.Status = r.RawResponse.StatusCode
	}
	if x != nil && x.Kept {
		result.Body = x.Body
	}
	return result
}

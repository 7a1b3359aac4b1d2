package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// send makes one attempt to apply operations to a logical partition: one by
// its own request, several as a batch.
func (k *call) send(ctx context.Context, x *exchange, at *partition, ops []operation) ([]result, error) {
	if len(ops) == 1 && !k.batch {
		return k.sendAlone(ctx, x, at, &ops[0])
	}
	return k.sendBatch(ctx, x, at, ops)
}

func (k *call) sendAlone(ctx context.Context, x *exchange, at *partition, op *operation) ([]result, error) {
	var answer azcosmos.ItemResponse
	err := k.once(ctx, x, func(ctx context.Context) (azcosmos.Response, error) {
		options := &azcosmos.ItemOptions{
			PriorityLevel: priorityFrom(ctx), ThroughputBucket: bucketFrom(ctx),
			EnableContentResponseOnWrite: k.contents,
		}
		if op.etag != noDocument {
			options.IfMatchEtag = etagOption(op.etag)
		}
		var err error
		container := k.core.container
		switch op.sentAs() {
		case opCreate:
			answer, err = container.CreateItem(ctx, at.key, op.body, options)
		case opReplace:
			answer, err = container.ReplaceItem(ctx, at.key, op.id, op.body, options)
		case opUpsert:
			answer, err = container.UpsertItem(ctx, at.key, op.body, options)
		case opPatch:
			answer, err = container.PatchItem(ctx, at.key, op.id, op.patch, options)
		case opDelete:
			answer, err = container.DeleteItem(ctx, at.key, op.id, options)
		case opRead:
			answer, err = container.ReadItem(ctx, at.key, op.id, nil)
		}
		return answer.Response, err
	})
	return []result{{etag: string(answer.ETag), body: answer.Value}}, err
}

// sendBatch turns the SDK's silent failure, a 207 without an error, into a
// BatchError.
func (k *call) sendBatch(ctx context.Context, x *exchange, at *partition, ops []operation) ([]result, error) {
	batch := k.core.container.NewTransactionalBatch(at.key)
	for i := range ops {
		ops[i].appendTo(&batch)
	}
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, err
	}
	var results []result
	err = k.once(ctx, x, func(ctx context.Context) (azcosmos.Response, error) {
		options := azcosmos.TransactionalBatchOptions{PriorityLevel: priorityFrom(ctx), ThroughputBucket: bucketFrom(ctx), EnableContentResponseOnWrite: k.contents}
		if token != nil {
			options.SessionToken = *token
		}
		resp, err := k.core.container.ExecuteTransactionalBatch(ctx, batch, &options)
		if err != nil {
			return resp.Response, err
		}
		if resp.Success && len(resp.OperationResults) == len(ops) {
			results = make([]result, len(ops))
			for i, r := range resp.OperationResults {
				results[i] = result{etag: string(r.ETag), body: r.ResourceBody}
			}
			return resp.Response, nil
		}
		k.meterFailure(ctx, x, resp.Response)
		for i, r := range resp.OperationResults {
			if r.StatusCode != http.StatusFailedDependency && (r.StatusCode < 200 || r.StatusCode >= 300) && i < len(ops) {
				return resp.Response, &BatchError{Index: i, Verb: ops[i].kind.String(), ID: ops[i].id, Status: int(r.StatusCode)}
			}
		}
		return resp.Response, errors.New("the service answered a batch without its results")
	})
	return results, err
}

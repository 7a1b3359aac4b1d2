package engine

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// send makes one attempt to apply operations to a logical partition: one by
// its own request, several as a batch.
func (k *Call) send(ctx context.Context, x *exchange, at *Partition, ops []Operation) ([]Result, error) {
	sent, err := k.storedForm(ops)
	if err != nil {
		return nil, err
	}
	var results []Result
	if len(ops) == 1 && !k.batch {
		results, err = k.sendAlone(ctx, x, at, &sent[0])
	} else {
		results, err = k.sendBatch(ctx, x, at, sent)
	}
	return k.canonicalForm(ops, results, err)
}

func (k *Call) sendAlone(ctx context.Context, x *exchange, at *Partition, op *Operation) ([]Result, error) {
	var answer azcosmos.ItemResponse
	err := k.once(ctx, x, func(ctx context.Context) (azcosmos.Response, error) {
		options := &azcosmos.ItemOptions{
			PriorityLevel: priorityFrom(ctx), ThroughputBucket: bucketFrom(ctx),
			EnableContentResponseOnWrite: k.contents,
		}
		if op.ETag != noDocument {
			options.IfMatchEtag = etagOption(op.ETag)
		}
		var err error
		container := k.Collection.Container
		switch op.sentAs() {
		case OpCreate:
			answer, err = container.CreateItem(ctx, at.Key, op.Body, options)
		case OpReplace:
			answer, err = container.ReplaceItem(ctx, at.Key, op.ID, op.Body, options)
		case OpUpsert:
			answer, err = container.UpsertItem(ctx, at.Key, op.Body, options)
		case OpPatch:
			answer, err = container.PatchItem(ctx, at.Key, op.ID, op.Patch, options)
		case OpDelete:
			answer, err = container.DeleteItem(ctx, at.Key, op.ID, options)
		case OpRead:
			answer, err = container.ReadItem(ctx, at.Key, op.ID, nil)
		}
		return answer.Response, err
	})
	return []Result{{ETag: string(answer.ETag), Body: answer.Value}}, err
}

// sendBatch turns the SDK's silent failure, a 207 without an error, into a
// BatchError.
func (k *Call) sendBatch(ctx context.Context, x *exchange, at *Partition, ops []Operation) ([]Result, error) {
	batch := k.Collection.Container.NewTransactionalBatch(at.Key)
	for i := range ops {
		ops[i].appendTo(&batch)
	}
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, err
	}
	var results []Result
	err = k.once(ctx, x, func(ctx context.Context) (azcosmos.Response, error) {
		options := azcosmos.TransactionalBatchOptions{PriorityLevel: priorityFrom(ctx), ThroughputBucket: bucketFrom(ctx), EnableContentResponseOnWrite: k.contents}
		if token != nil {
			options.SessionToken = *token
		}
		resp, err := k.Collection.Container.ExecuteTransactionalBatch(ctx, batch, &options)
		if err != nil {
			return resp.Response, err
		}
		if resp.Success && len(resp.OperationResults) == len(ops) {
			results = make([]Result, len(ops))
			for i, r := range resp.OperationResults {
				results[i] = Result{ETag: string(r.ETag), Body: r.ResourceBody}
			}
			return resp.Response, nil
		}
		k.meterFailure(ctx, x, resp.Response)
		for i, r := range resp.OperationResults {
			if r.StatusCode != http.StatusFailedDependency && (r.StatusCode < 200 || r.StatusCode >= 300) && i < len(ops) {
				return resp.Response, &BatchError{Index: i, Verb: ops[i].Kind.String(), ID: ops[i].ID, Status: int(r.StatusCode)}
			}
		}
		return resp.Response, errors.New("the service answered a batch without its results")
	})
	return results, err
}

package engine

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
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
	x.KeepBody = k.contents || op.Kind == OpRead
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
	if x.Kept {
		answer.Value = x.Body
	}
	return []Result{{ETag: string(answer.ETag), Body: answer.Value}}, err
}

// sendBatch turns the service's silent failure, a 207 without an error, into a
// BatchError.
func (k *Call) sendBatch(ctx context.Context, x *exchange, at *Partition, ops []Operation) ([]Result, error) {
	body, err := batchBody(ops)
	if err != nil {
		return nil, err
	}
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, err
	}
	batch := cosmos.UnsentBatch(k.Collection.Container, at.Key)
	x.Send, x.KeepBody = body, true
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
		answers, err := cosmos.ReadBatch(x.Body)
		if err == nil && resp.Success && len(answers) == len(ops) {
			results = make([]Result, len(ops))
			for i := range answers {
				results[i] = Result{ETag: answers[i].ETag, Body: answers[i].Body}
			}
			return resp.Response, nil
		}
		k.meterFailure(ctx, x, resp.Response)
		for i, r := range answers {
			if r.Status != http.StatusFailedDependency && (r.Status < 200 || r.Status >= 300) && i < len(ops) {
				return resp.Response, &BatchError{Index: i, Verb: ops[i].Kind.String(), ID: ops[i].ID, Status: r.Status}
			}
		}
		return resp.Response, errors.New("the service answered a batch without its results")
	})
	return results, err
}

// batchBody is the body of a batch of the operations.
func batchBody(ops []Operation) ([]byte, error) {
	batch := make([]cosmos.BatchOperation, len(ops))
	for i := range ops {
		var err error
		if batch[i], err = ops[i].inBatch(); err != nil {
			return nil, &tenantitem.InvalidError{What: "patch", Reason: err.Error()}
		}
	}
	return cosmos.AppendBatch(make([]byte, 0, batchSize(ops)), batch), nil
}

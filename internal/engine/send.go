package engine

import (
	"context"
	"errors"
	"net/http"

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
	var result Result
	err := k.once(ctx, x, func(ctx context.Context) (answer cosmos.Answer, err error) {
		result, answer, err = cosmos.Write(ctx, k.Collection.Container, at.Key, op.sent(), k.options(ctx, nil))
		return answer, err
	})
	return []Result{result}, err
}

// sendBatch turns the service's refusal of a batch into a BatchError.
func (k *Call) sendBatch(ctx context.Context, x *exchange, at *Partition, ops []Operation) ([]Result, error) {
	batch := cosmos.NewBatch(batchSize(ops))
	for i := range ops {
		if err := batch.Add(ops[i].sent()); err != nil {
			return nil, &tenantitem.InvalidError{What: "patch", Reason: err.Error()}
		}
	}
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, err
	}
	var results []Result
	err = k.once(ctx, x, func(ctx context.Context) (cosmos.Answer, error) {
		answers, applied, answer, err := batch.Execute(ctx, k.Collection.Container, at.Key, k.options(ctx, token))
		if err != nil {
			return answer, err
		}
		if applied && len(answers) == len(ops) {
			results = answers
			return answer, nil
		}
		k.meterFailure(ctx, x, answer)
		for i, r := range answers {
			if r.Status != http.StatusFailedDependency && (r.Status < 200 || r.Status >= 300) && i < len(ops) {
				return answer, &BatchError{Index: i, Verb: ops[i].Kind.String(), ID: ops[i].ID, Status: r.Status, Substatus: r.Substatus}
			}
		}
		return answer, errors.New("the service answered a batch without its results")
	})
	return results, err
}

package repository

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// operationOverhead is what an operation adds to a batch beside its document,
// id and etag: the names of its members.
const operationOverhead = 96

// sentSize is how many bytes a document takes in a batch: the SDK writes the
// characters that HTML gives a meaning to, and two line separators, as escapes
// of six bytes.
func sentSize(body []byte) int {
	return len(body) +
		5*(bytes.Count(body, []byte{'<'})+bytes.Count(body, []byte{'>'})+bytes.Count(body, []byte{'&'})) +
		3*(bytes.Count(body, []byte("\u2028"))+bytes.Count(body, []byte("\u2029")))
}

// execute sends the operations as one batch and turns the SDK's silent
// failure, a 207 without an error, into a BatchError.
func (k *call) execute(ctx context.Context, ops []batchOp) ([]azcosmos.TransactionalBatchResult, error) {
	batch := k.core.container.NewTransactionalBatch(k.at.key)
	for i := range ops {
		ops[i].append(&batch, ops[i].etag)
	}
	var results []azcosmos.TransactionalBatchResult
	err := k.write(ctx, func(ctx context.Context) (azcosmos.Response, error) {
		options := azcosmos.TransactionalBatchOptions{PriorityLevel: priorityFrom(ctx), ThroughputBucket: bucketFrom(ctx), EnableContentResponseOnWrite: k.contents}
		if token := k.core.sessions.header(ctx, k.core.container.ID()); token != nil {
			options.SessionToken = *token
		}
		resp, err := k.core.container.ExecuteTransactionalBatch(ctx, batch, &options)
		if err != nil {
			return resp.Response, err
		}
		results = resp.OperationResults
		if resp.Success && len(results) == len(ops) {
			return resp.Response, nil
		}
		k.meterFailure(ctx, resp.Response)
		for i, r := range results {
			if r.StatusCode != http.StatusFailedDependency && (r.StatusCode < 200 || r.StatusCode >= 300) && i < len(ops) {
				return resp.Response, &BatchError{Index: i, Verb: ops[i].verb, ID: ops[i].id, Status: int(r.StatusCode)}
			}
		}
		return resp.Response, errors.New("the service answered a batch without its results")
	}, func(ctx context.Context) (outcome, error) { return k.lookForBatch(ctx, ops, &results) })
	return results, err
}

// lookForBatch decides a batch by its operations: all were applied or none.
func (k *call) lookForBatch(ctx context.Context, ops []batchOp, results *[]azcosmos.TransactionalBatchResult) (outcome, error) {
	*results = make([]azcosmos.TransactionalBatchResult, len(ops))
	found, err := k.storedNow(ctx, ops)
	if err != nil {
		return unknown, err
	}
	last := map[string]int{} // only the last operation on a document can be seen in it
	wanted := map[string]int{}
	for i := range ops {
		if ops[i].verb != "Read" {
			last[ops[i].id] = i
			if !ops[i].beside {
				wanted[ops[i].id] = i
			}
		}
	}
	verdict, gone, puts := unknown, len(wanted) > 0, len(wanted) > 0
	for id, i := range last {
		now := found[id]
		o := ops[i].judge(now)
		if w, own := wanted[id]; o == unknown && own && w != i {
			o = ops[w].judge(now)
		}
		switch o {
		case notApplied:
			return notApplied, nil
		case applied:
			verdict = applied
			(*results)[i].ETag = azcore.ETag(now.etagOf(ops[i].stamp))
		}
	}
	for id, i := range wanted {
		now := found[id]
		gone = gone && ops[i].verb == "Delete" && now == nil
		puts = puts && ops[i].verb == "Put"
	}
	switch {
	case verdict == unknown && gone:
		return applied, nil // somebody removed all of them, which is what was wanted
	case verdict == unknown && puts:
		return notApplied, nil // as in Put: overwriting whatever is there may be repeated
	case verdict == applied:
		return applied, k.rereadBatch(ctx, ops, *results)
	}
	return verdict, nil
}

// storedNow reads what the documents of a batch tell of their last writes: one
// query, or a point read where there is only one.
func (k *call) storedNow(ctx context.Context, ops []batchOp) (map[string]*stored, error) {
	found := make(map[string]*stored, len(ops))
	ids := make([]any, 0, len(ops))
	for i := range ops {
		if ops[i].verb != "Read" {
			ids = append(ids, ops[i].id)
		}
	}
	if len(ids) == 1 {
		one := call{core: k.core, op: k.op, at: k.at, id: ids[0].(string), settles: true, watch: k.watch}
		raw, err := one.readItem(ctx, k.at)
		if statusOf(err) == http.StatusNotFound {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		now, err := readStored(raw)
		if err == nil {
			found[one.id] = now
		}
		return found, err
	}
	w := sqlWriter{}
	w.text.WriteString("SELECT c.id, c._etag, c." + stampsField + ", c." + stampField + " FROM c WHERE ")
	if err := In("id", ids...).write(&w); err != nil {
		return nil, err
	}
	st := statement{text: w.text.String(), params: w.params}
	for from := ""; ; {
		rows, next, err := fetchPage[stored](ctx, k, k.at, st, from, len(ids))
		if err != nil {
			return nil, err
		}
		for i := range rows {
			found[rows[i].ID] = &rows[i]
		}
		if next == "" {
			return found, nil
		}
		from = next
	}
}

// rereadBatch fetches what the lost answer's reads had held.
func (k *call) rereadBatch(ctx context.Context, ops []batchOp, results []azcosmos.TransactionalBatchResult) error {
	for i := range ops {
		if ops[i].verb != "Read" {
			continue
		}
		one := call{core: k.core, op: k.op, at: k.at, id: ops[i].id, settles: true, watch: k.watch}
		body, err := one.readItem(ctx, k.at)
		if err != nil {
			return err
		}
		results[i].ResourceBody = body
	}
	return nil
}

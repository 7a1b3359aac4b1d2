package store

import (
	"net/http"
)

// MaxBatchOperations is how many operations a batch or bulk request may have.
const MaxBatchOperations = 100

// maxBatchResponse is how many bytes of documents a batch may answer with.
const maxBatchResponse = 4 << 20

// OperationKind says what an [Operation] does.
type OperationKind uint8

// The kinds of operation in a batch.
const (
	OpCreate OperationKind = iota
	OpUpsert
	OpReplace
	OpDelete
	OpRead
	OpPatch
)

// Operation is one step of a batch or bulk request.
type Operation struct {
	Kind OperationKind
	// ID is the item's; Create and Upsert take it from the body.
	ID   string
	Body []byte
	// Patch belongs to OpPatch.
	Patch Patch
	Precondition
	// Key is the operation's own partition key, in bulk requests only.
	Key Key
	// Unindexed keeps the item out of queries.
	Unindexed bool
}

// OperationResult is the answer to one [Operation].
type OperationResult struct {
	Result
	// Err is the operation's own refusal, or 424 for one that failed with the batch. Result.Status is set in any case.
	Err *Error
}

// BatchResult is the answer to a batch or bulk request: position, total charge and one result for each operation.
type BatchResult struct {
	Result
	// Failed reports that at least one operation did not succeed; a status of 304 counts as one.
	Failed  bool
	Results []OperationResult
}

// Batch applies up to 100 operations to one logical partition, all or none. Result.Status is 200 or 207: an operation
// that fails keeps its own status and every other gets 424. Operations see the effects of earlier ones, and all writes
// share one LSN. An error is returned only when the batch as a whole is refused.
func (c *Container) Batch(call Call, ops []Operation) (BatchResult, error) {
	refused := BatchResult{Result: Result{Charge: chargeRefused}}
	if err := checkBatchSize(ops); err != nil {
		return refused, err
	}
	c.topology.RLock()
	defer c.topology.RUnlock()
	if c.deleted {
		return refused, parentNotFound()
	}
	d := c.definition
	if err := d.checkFull(call.Key); err != nil {
		return refused, err
	}
	key := d.completed(call.Key)
	p, err := c.route(d.hash(key), call.RangeID)
	if err != nil {
		return refused, err
	}
	p.mu.Lock()
	t := p.begin(d, key, canonical(key), true)
	out := BatchResult{Results: make([]OperationResult, len(ops))}
	failed := t.checkReads(call, ops, out.Results)
	for i := 0; i < len(ops) && failed < 0; i++ {
		if !out.Results[i].set(t.operate(ops[i])) {
			failed = i
		}
	}
	if failed < 0 {
		failed = limitResponse(call, ops, out.Results)
	}
	wait := nothingToWrite
	if failed < 0 {
		wait = t.commit()
	}
	t.position(&out.Result)
	p.mu.Unlock()
	out.finish(failed)
	return out, await(wait)
}

func checkBatchSize(ops []Operation) error {
	switch n := len(ops); {
	case n == 0:
		return badRequest("The batch has no operations.")
	case n > MaxBatchOperations:
		return badRequest("Batch request has more operations than what is supported: %d, at most %d.", n, MaxBatchOperations)
	}
	return nil
}

// checkReads lets a batch that reads fail as a whole when its session token is ahead: all its operations get 404/1002.
// Batches that only write ignore the token.
func (t *txn) checkReads(call Call, ops []Operation, results []OperationResult) (failed int) {
	reads := false
	for i := range ops {
		reads = reads || ops[i].Kind == OpRead
	}
	if !reads || call.SessionToken == "" {
		return -1
	}
	session, err := parseSession(call.SessionToken)
	if err == nil {
		err = t.p.checkSession(session, t.p.state.lsn)
	}
	if err == nil {
		return -1
	}
	for i := range results {
		results[i].set(Result{}, err)
	}
	return 0
}

// operate runs one operation of a batch.
func (t *txn) operate(op Operation) (Result, error) {
	switch op.Kind {
	case OpRead:
		r := Result{Charge: chargeMiss}
		return r, r.show(t.s.find(t.canon, op.ID), t.d, op.Precondition, t.now)
	case OpDelete:
		return t.remove(op.ID, op.Precondition)
	case OpPatch:
		if err := op.Patch.check(); err != nil {
			return Result{}, err
		}
		return t.patch(op.ID, op.Patch, op.Precondition)
	}
	dr, _, err := t.d.prepare(Call{Key: t.key, Unindexed: op.Unindexed}, present(op.Body))
	if err != nil {
		return Result{}, err
	}
	switch op.Kind {
	case OpCreate:
		return t.create(dr)
	case OpUpsert:
		return t.upsert(dr, op.Precondition)
	case OpReplace:
		id := op.ID
		if id == "" {
			id = dr.id
		}
		return t.replace(id, dr, op.Precondition)
	default:
		return Result{}, badRequest("The operation of the batch is of an unknown kind.")
	}
}

// set takes in an answer and reports whether the operation succeeded.
func (o *OperationResult) set(r Result, err error) bool {
	o.Result = r
	if err == nil {
		return true
	}
	o.Err = asError(err)
	o.Status = o.Err.Status
	o.Charge = chargeRefused
	return false
}

// limitResponse finds the operation whose document makes the answer too large, and fails it (413/3402).
func limitResponse(call Call, ops []Operation, results []OperationResult) (failed int) {
	total := 0
	for i := range results {
		if call.Minimal && ops[i].Kind != OpRead {
			continue
		}
		if total += len(results[i].Body); total > maxBatchResponse {
			results[i].set(Result{}, refuse(http.StatusRequestEntityTooLarge, SubstatusBatchResponseSize, textTooLarge))
			return i
		}
	}
	return -1
}

// finish gives every operation its final status and adds up the charges.
func (b *BatchResult) finish(failed int) {
	b.Status = http.StatusOK
	b.Charge = 0
	for i := range b.Results {
		r := &b.Results[i]
		if failed >= 0 && r.Err == nil {
			r.Result = Result{}
			r.set(Result{}, refuse(http.StatusFailedDependency, 0, "The operation was not done because another operation of the batch failed."))
			r.Charge = 0
		}
		if r.Status >= http.StatusMultipleChoices {
			b.Failed, b.Status = true, http.StatusMultiStatus
		}
		b.Charge += r.Charge
	}
	b.Charge = round2(max(b.Charge, chargeRefused))
}

// Bulk applies operations that each stand alone. call.RangeID names the range that must own their keys; an operation
// whose key it does not own fails by itself with 410/1002. Result.Status is 200 or 207.
func (c *Container) Bulk(call Call, ops []Operation) (BatchResult, error) {
	refused := BatchResult{Result: Result{Charge: chargeRefused}}
	if err := checkBatchSize(ops); err != nil {
		return refused, err
	}
	if err := c.checkRange(call.RangeID); err != nil {
		return refused, err
	}
	out := BatchResult{Results: make([]OperationResult, len(ops))}
	last := nothingToWrite // the journal keeps its order, so what holds for the last write holds for all
	call.durable = &last
	for i := range ops {
		out.Results[i].set(c.single(call, ops[i]))
		r := out.Results[i].Result
		if r.RangeID != "" {
			out.LSN, out.RangeID, out.SessionToken = r.LSN, r.RangeID, r.SessionToken
		}
	}
	out.finish(-1)
	return out, await(last)
}

func (c *Container) checkRange(id string) error {
	c.topology.RLock()
	defer c.topology.RUnlock()
	if c.deleted {
		return parentNotFound()
	}
	if id == "" {
		return nil
	}
	_, err := c.rangeByID(id)
	return err
}

// single runs one operation of a bulk request as a request of its own.
func (c *Container) single(call Call, op Operation) (Result, error) {
	one := Call{
		Key: op.Key, Precondition: op.Precondition, SessionToken: call.SessionToken,
		RangeID: call.RangeID, Unindexed: op.Unindexed, durable: call.durable,
	}
	if one.Key == nil {
		one.Key, one.KeyFromBody = call.Key, call.KeyFromBody
	}
	switch op.Kind {
	case OpCreate:
		return c.CreateItem(one, op.Body)
	case OpUpsert:
		return c.UpsertItem(one, op.Body)
	case OpReplace:
		return c.ReplaceItem(one, op.ID, op.Body)
	case OpDelete:
		return c.DeleteItem(one, op.ID)
	case OpRead:
		return c.ReadItem(one, op.ID)
	case OpPatch:
		return c.PatchItem(one, op.ID, op.Patch)
	}
	return Result{}, badRequest("The operation of the bulk request is of an unknown kind.")
}

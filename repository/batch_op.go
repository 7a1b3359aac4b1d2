package repository

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// batchOp is one operation: how it joins the SDK's batch, and what becomes of
// its result.
type batchOp struct {
	verb  string
	id    string
	size  int
	stamp string // of an operation that writes a document whole or by patch
	etag  string // that the operation requires; "" for none
	// append adds the operation to a batch, on the condition of an etag.
	append func(tb *azcosmos.TransactionalBatch, etag string)
	done   func(*batchOp, azcosmos.TransactionalBatchResult) error
	body   []byte // of an operation that writes an entity
	entity any    // what hooks see, nil for none
	// before is the document that the operation replaces, where it is known.
	before *stored
	// finish goes on with a delete under rules after the batch was applied.
	finish func(context.Context) error
	// prepare encodes the operation once hooks have seen its entity.
	prepare func(*batchOp) error

	// What a Beside is told: whose document it is, and what becomes of it, nil
	// for a delete. Of an operation without after it is not told.
	species *core
	after   func(before *Document) *Document
	// edits are those of a patch, so that it is known what it touches.
	edits *Edits
	// beside marks an operation that a hook added.
	beside bool
}

// noDocument is the etag that a Put requires which found nothing to overwrite.
const noDocument = "none"

func (op *batchOp) creates(c *core, body []byte) {
	op.species, op.size, op.after = c, sentSize(body), bodyAfter(body)
	op.append = func(tb *azcosmos.TransactionalBatch, _ string) { tb.CreateItem(body, nil) }
}

func (op *batchOp) replaces(c *core, body []byte) {
	op.species, op.size, op.after = c, sentSize(body), bodyAfter(body)
	id := op.id
	op.append = func(tb *azcosmos.TransactionalBatch, etag string) {
		tb.ReplaceItem(escapeJSON(id), body, ifMatch(etag))
	}
}

// puts overwrites whatever is there; with an etag, only what was seen there.
func (op *batchOp) puts(c *core, body []byte) {
	op.species, op.size, op.after = c, sentSize(body), bodyAfter(body)
	id := op.id
	op.append = func(tb *azcosmos.TransactionalBatch, etag string) {
		switch etag {
		case "":
			tb.UpsertItem(body, nil)
		case noDocument:
			tb.CreateItem(body, nil)
		default:
			tb.ReplaceItem(escapeJSON(id), body, ifMatch(etag))
		}
	}
}

func (op *batchOp) patches(ops azcosmos.PatchOperations) {
	id := op.id
	op.append = func(tb *azcosmos.TransactionalBatch, etag string) { tb.PatchItem(escapeJSON(id), ops, ifMatch(etag)) }
}

func (op *batchOp) deletes(c *core) {
	id := op.id
	op.species, op.after = c, func(*Document) *Document { return nil }
	op.append = func(tb *azcosmos.TransactionalBatch, etag string) { tb.DeleteItem(escapeJSON(id), ifMatch(etag)) }
}

func ifMatch(etag string) *azcosmos.TransactionalBatchItemOptions {
	return &azcosmos.TransactionalBatchItemOptions{IfMatchETag: etagOption(etag)}
}

// judge decides about one operation by its document as it is now.
func (op *batchOp) judge(now *stored) outcome {
	switch {
	case op.stamp != "":
		return basis{absent: op.verb == "Create" || op.etag == noDocument, etag: op.etag, before: op.before}.judge(now, op.stamp)
	case op.verb == "Delete" && now != nil && (op.etag == "" || op.etag == now.ETag):
		return notApplied
	case op.edits != nil && now != nil && (op.etag != "" && op.etag == now.ETag || op.edits.repeatable()):
		return notApplied
	}
	return unknown
}

// cost is about how many bytes an operation takes in a batch.
func (op *batchOp) cost() int { return op.size + len(op.id) + len(op.etag) + operationOverhead }

func batchSize(ops []batchOp) int {
	size := 2
	for i := range ops {
		size += ops[i].cost()
	}
	return size
}

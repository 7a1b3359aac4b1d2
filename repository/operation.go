package repository

import (
	"bytes"
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// operationKind is what a write operation does to its document.
type operationKind uint8

const (
	opCreate operationKind = iota + 1
	opReplace
	opUpsert
	opPatch
	opDelete
	opRead // within a batch only
)

// String returns the verb that errors name.
func (o operationKind) String() string {
	return [...]string{opCreate: "Create", opReplace: "Replace", opUpsert: "Upsert", opPatch: "Patch", opDelete: "Delete", opRead: "Read"}[o]
}

// operation is one write of one document, as a value: what a verb wants. How it
// is sent, alone or in a batch, and what becomes of it when no answer comes,
// is the same for all of them; see apply.
type operation struct {
	kind operationKind
	id   string
	// etag that the document must have; "" for none, noDocument for no document.
	etag  string
	body  []byte                   // of opCreate, opReplace and opUpsert
	patch azcosmos.PatchOperations // of opPatch
	size  int                      // of the body or the patch, in bytes as sent
	// mark is stored with the document by this write alone; "" for none.
	mark string
	// before is the document that a replacement takes the place of, where it
	// was read.
	before *marked
	// goal says that a delete wants the document gone, by whoever: it was read
	// under this process's session, so that its absence is proof.
	goal bool

	entity any // what hooks see, nil for none
	done   func(*operation, result) error
	// finish goes on with a delete under rules after the transaction.
	finish func(context.Context) error
	// prepare encodes the operation once hooks have seen its entity.
	prepare func(*operation) error

	// What a transaction hook is told: whose document it is, and what becomes
	// of it, nil for a delete. Of an operation without after it is not told.
	species *core
	after   func(before *Document) *Document
	// edits are those of a patch, so that it is known what it touches.
	edits *Edits
}

// result is the service's answer to one operation.
type result struct {
	etag string
	body []byte // of opRead, and of a patch whose call asked for it
}

// noDocument is the etag that an upsert requires which found nothing to
// overwrite.
const noDocument = "none"

func (op *operation) writes(c *core, kind operationKind, body []byte) {
	op.kind, op.species, op.body, op.size, op.after = kind, c, body, sentSize(body), bodyAfter(body)
}

func (op *operation) deletes(c *core) {
	op.kind, op.species, op.after = opDelete, c, func(*Document) *Document { return nil }
}

// appendTo adds the operation to the SDK's batch, on the condition of its etag.
func (op *operation) appendTo(batch *azcosmos.TransactionalBatch) {
	id, options := escapeJSON(op.id), &azcosmos.TransactionalBatchItemOptions{IfMatchETag: etagOption(op.etag)}
	switch op.sentAs() {
	case opCreate:
		batch.CreateItem(op.body, nil)
	case opReplace:
		batch.ReplaceItem(id, op.body, options)
	case opUpsert:
		batch.UpsertItem(op.body, nil)
	case opPatch:
		batch.PatchItem(id, op.patch, options)
	case opDelete:
		batch.DeleteItem(id, options)
	case opRead:
		batch.ReadItem(id, nil)
	}
}

// sentAs is the operation's kind for the service: an upsert that is bound to
// what was found is a creation or a replacement.
func (op *operation) sentAs() operationKind {
	switch {
	case op.kind != opUpsert || op.etag == "":
		return op.kind
	case op.etag == noDocument:
		return opCreate
	}
	return opReplace
}

// operationOverhead is what an operation adds to a batch beside its document,
// id and etag: the names of its members.
const operationOverhead = 96

// cost is about how many bytes an operation takes in a batch.
func (op *operation) cost() int { return op.size + len(op.id) + len(op.etag) + operationOverhead }

func batchSize(ops []operation) int {
	size := 2
	for i := range ops {
		size += ops[i].cost()
	}
	return size
}

// sentSize is how many bytes a document takes in a batch: the SDK writes the
// characters that HTML gives a meaning to, and two line separators, as escapes
// of six bytes.
func sentSize(body []byte) int {
	return len(body) +
		5*(bytes.Count(body, []byte{'<'})+bytes.Count(body, []byte{'>'})+bytes.Count(body, []byte{'&'})) +
		3*(bytes.Count(body, []byte("\u2028"))+bytes.Count(body, []byte("\u2029")))
}

func etagOption(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	return (*azcore.ETag)(&etag)
}

package engine

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// OperationKind is what a write operation does to its document.
type OperationKind uint8

const (
	OpCreate OperationKind = iota + 1
	OpReplace
	OpUpsert
	OpPatch
	OpDelete
	OpRead // within a batch only
)

// String returns the verb that errors name.
func (o OperationKind) String() string {
	return [...]string{OpCreate: "Create", OpReplace: "Replace", OpUpsert: "Upsert", OpPatch: "Patch", OpDelete: "Delete", OpRead: "Read"}[o]
}

// Operation is one write of one document, as a value: what a verb wants. How it
// is sent, alone or in a batch, and what becomes of it when no answer comes,
// is the same for all of them; see apply.
type Operation struct {
	Kind OperationKind
	ID   string
	// etag that the document must have; "" for none, noDocument for no document.
	ETag  string
	Body  []byte                   // of OpCreate, OpReplace and OpUpsert
	Patch azcosmos.PatchOperations // of OpPatch
	Size  int                      // of the body or the patch, in bytes as sent
	// Mark is stored with the document by this write alone; "" for none.
	Mark string
	// Before is the document that a replacement takes the place of, where it
	// was read.
	Before *Marked
	// goal says that a delete wants the document gone, by whoever: it was read
	// under this process's session, so that its absence is proof.
	goal bool

	Entity any // what hooks see, nil for none
	Done   func(*Operation, Result) error
	// finish goes on with a delete under rules after the transaction.
	finish func(context.Context) error
	// Prepare encodes the operation once hooks have seen its entity.
	Prepare func(*Operation) error

	// What a transaction hook is told: whose document it is, and what becomes
	// of it, nil for a delete. Of an operation without after it is not told.
	species *Collection
	// Reads is the species of an operation that hooks are not told of.
	Reads *Collection
	// stored says that id, body and patch are in the stored form already.
	stored bool
	after  func(before *Document) *Document
	// edits are those of a patch, so that it is known what it touches.
	edits *Edits
}

// Result is the service's answer to one operation.
type Result struct {
	ETag string
	Body []byte // of OpRead, and of a patch whose call asked for it
}

// noDocument is the etag that an upsert requires which found nothing to
// overwrite.
const noDocument = "none"

// Writes makes the operation a write of a body.
func (op *Operation) Writes(c *Collection, kind OperationKind, body []byte) {
	op.Kind, op.species, op.Body, op.Size, op.after = kind, c, body, len(body), bodyAfter(body)
}

// Deletes makes the operation a delete.
func (op *Operation) Deletes(c *Collection) {
	op.Kind, op.species, op.after = OpDelete, c, func(*Document) *Document { return nil }
}

// inBatch is the operation as it stands in a batch, on the condition of its etag.
func (op *Operation) inBatch() (cosmos.BatchOperation, error) {
	kind := op.sentAs()
	out := cosmos.BatchOperation{Verb: kind.String(), ID: op.ID, Body: op.Body}
	switch kind {
	case OpCreate, OpUpsert:
		out.ID = "" // it stands in the body
	case OpReplace, OpDelete:
		out.ETag = op.ETag
	case OpPatch:
		out.ETag = op.ETag
		var err error
		out.Body, err = op.Patch.MarshalJSON()
		return out, err
	case OpRead:
	}
	return out, nil
}

// sentAs is the operation's kind for the service: an upsert that is bound to
// what was found is a creation or a replacement.
func (op *Operation) sentAs() OperationKind {
	switch {
	case op.Kind != OpUpsert || op.ETag == "":
		return op.Kind
	case op.ETag == noDocument:
		return OpCreate
	}
	return OpReplace
}

// operationOverhead is what an operation adds to a batch beside its document,
// id and etag: the names of its members.
const operationOverhead = 96

// cost is about how many bytes an operation takes in a batch.
func (op *Operation) cost() int { return op.Size + len(op.ID) + len(op.ETag) + operationOverhead }

func batchSize(ops []Operation) int {
	size := 2
	for i := range ops {
		size += ops[i].cost()
	}
	return size
}

func etagOption(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	return (*azcore.ETag)(&etag)
}

package engine

import (
	"context"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// OperationKind is what a write operation does to its document.
type OperationKind = cosmos.OperationKind

// The kinds of operations; [OpRead] stands within a batch only.
const (
	OpCreate  = cosmos.OpCreate
	OpReplace = cosmos.OpReplace
	OpUpsert  = cosmos.OpUpsert
	OpPatch   = cosmos.OpPatch
	OpDelete  = cosmos.OpDelete
	OpRead    = cosmos.OpRead
)

// Operation is one write of one document, as a value: what a verb wants. How it
// is sent, alone or in a batch, and what becomes of it when no answer comes,
// is the same for all of them; see apply.
type Operation struct {
	Kind OperationKind
	ID   string
	// etag that the document must have; "" for none, noDocument for no document.
	ETag  string
	Body  []byte       // of OpCreate, OpReplace and OpUpsert
	Patch cosmos.Patch // of OpPatch
	Size  int          // of the body or the patch, in bytes as sent
	// Mark is stored with the document by this write alone; "" for none.
	Mark string
	// Before is the document that a replacement takes the place of, where it
	// was read.
	Before *Marked
	// goal says that a delete has reached its end where the document is gone,
	// another writer's delete included: it was read under this process's
	// session, so that its absence is proof.
	goal bool

	Entity any // what hooks see, nil for none
	Done   func(*Operation, Result) error
	// finish goes on with a delete under rules after the transaction.
	finish func(context.Context) error
	// Prepare encodes the operation once hooks have seen its entity.
	Prepare func(*Operation) error

	// What a transaction hook is told: the document's entity type, and what the
	// operation makes of the document, which is nil after a delete. A transaction
	// hook is not told of operations whose after is nil.
	collection *Collection
	// Reads is the collection of an operation that hooks are not told of.
	Reads *Collection
	// spare says that nobody needs the result of a read whose answer was lost.
	spare bool
	// stored says that id, body and patch are in the stored form already.
	stored bool
	after  func(before *Document) *Document
	// edits are those of a patch, so that it is known what it touches.
	edits *Edits
}

// Result is the service's answer to one operation. It has a body for OpRead,
// and for a patch whose call asked for it.
type Result = cosmos.Result

// noDocument is the etag that an upsert requires which found nothing to
// overwrite.
const noDocument = "none"

// Writes makes the operation a write of a body.
func (op *Operation) Writes(c *Collection, kind OperationKind, body []byte) {
	op.Kind, op.collection, op.Body, op.Size, op.after = kind, c, body, len(body), bodyAfter(body)
}

// Deletes makes the operation a delete.
func (op *Operation) Deletes(c *Collection) {
	op.Kind, op.collection, op.after = OpDelete, c, func(*Document) *Document { return nil }
}

// sent is the operation as it goes to the service.
func (op *Operation) sent() cosmos.Operation {
	out := cosmos.Operation{Kind: op.sentAs(), ID: op.ID, ETag: op.ETag, Body: op.Body, Patch: op.Patch}
	if op.ETag == noDocument {
		out.ETag = ""
	}
	return out
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

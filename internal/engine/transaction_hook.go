package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
)

// TransactionHook says which other documents of a logical partition have to change in
// the same transaction as some of its documents do: the count in a customer
// when an order is created under /tenantId,/customerId.
//
// What it says may be left out where it does not fit into the transaction, or
// where others change those documents all the time. It must therefore be
// something that is also reached in another way.
type TransactionHook interface {
	// Members are the top-level members of an entity type that Companions looks
	// at. leads says that changes of them concern other documents; without it
	// the entity type is only one of those others.
	Members(s *Collection) (names []string, leads bool)
	// Companions returns what has to change with tx. It may be called several
	// times for one write, each time with documents that were read anew.
	Companions(ctx context.Context, tx Transaction) ([]Companion, error)
}

// Transaction is what is about to be applied to one logical partition.
type Transaction struct {
	TenantID string
	// Key are the values of all levels of the partition key.
	Key []any
	// Changes has one entry for each document.
	Changes []Change
	// Again says that the transaction was refused before, because a companion
	// was not as expected.
	Again bool
}

// Change is what becomes of one document.
type Change struct {
	Collection *Collection
	ID         string
	// Before is the document that is stored, and After what will be; nil is
	// none. Both may be marked as deleted.
	Before, After *Document
	// Upsert says that the document is written over without having been read.
	Upsert bool
}

// Companion is a change of one more document. With an etag it is made only to
// that version of the document; without one, to any version that is of the
// entity type and not deleted.
type Companion struct {
	Collection *Collection
	DocumentPatch
	// Increments are added to numbers; a missing one counts as 0.
	Increments []MemberIncrement
}

// MemberIncrement adds to the number at a JSON pointer.
type MemberIncrement struct {
	Pointer string
	By      int64
}

// op turns a companion into an operation of its transaction.
func (c *Companion) op(tenant string) (Operation, error) {
	core := c.Collection
	op := Operation{Kind: OpPatch, ID: c.ID, ETag: c.ETag, Mark: core.Mark(), collection: core}
	op.Size = c.size()
	ops := c.patch()
	for _, inc := range c.Increments {
		ops.Increment(inc.Pointer, inc.By)
		op.Size += len(inc.Pointer) + operationOverhead
	}
	ops.Set("/"+markField, op.Mark)
	if c.ETag == "" {
		condition, err := core.condition(tenant, []Predicate{Missing("deletedAt")})
		if err != nil {
			return op, err
		}
		ops.Condition = condition
		op.Size += 2 * len(condition) // at most, with its quotes escaped
	}
	op.Patch = ops
	return op, nil
}

// bodyAfter is the document that a body makes, whatever was there.
func bodyAfter(body []byte) func(*Document) *Document {
	return func(*Document) *Document {
		d := &Document{}
		if codec.Decode(body, &d.Fields) != nil {
			return nil
		}
		_ = codec.Decode(memberAt(d.Fields, "deletedAt"), &d.DeletedAt)
		_ = codec.Decode(memberAt(d.Fields, "id"), &d.ID)
		return d
	}
}

// with returns a document with other values of some of its members, and with another mark
// of its delete. What lies in a nested object is left to the change feed.
func (d *Document) with(members map[string]any, deletedAt string) *Document {
	if d == nil {
		return nil
	}
	next := *d
	next.DeletedAt = deletedAt
	if len(members) > 0 {
		next.Fields = maps.Clone(d.Fields)
	}
	for path, value := range members {
		raw, err := codec.Encode(value)
		switch {
		case strings.Contains(path, "."):
		case value == nil || err != nil:
			delete(next.Fields, path)
		default:
			next.Fields[path] = raw
		}
	}
	return &next
}

// FollowedBy says what a patch makes of its document.
func (op *Operation) FollowedBy(c *Collection, edits *Edits) {
	op.collection, op.edits = c, edits
	op.after = func(before *Document) *Document {
		if before == nil {
			return nil
		}
		names, _ := c.hooks.transaction.Members(c)
		next := *before
		next.Fields = edits.applyTo(before.Fields, names)
		return &next
	}
}

// Leads reports whether writes of the entity type may need companions.
func (c *Collection) Leads() bool {
	if c.hooks.transaction == nil {
		return false
	}
	_, leads := c.hooks.transaction.Members(c)
	return leads
}

// companionRoom is how many operations of a batch a bulk leaves to companions. A
// batch that needs more is divided.
const companionRoom = 10

// itemsPerBatch is how many documents a bulk sends together.
func (c *Collection) itemsPerBatch() int {
	if c.Leads() {
		return MaxBatchOperations - companionRoom
	}
	return MaxBatchOperations
}

// told reports whether a TransactionHook is told of an operation.
func (op *Operation) told() bool { return op.after != nil && op.collection.hooks.transaction != nil }

// concerns reports whether an operation may need companions.
func (op *Operation) concerns() bool {
	if !op.told() {
		return false
	}
	names, leads := op.collection.hooks.transaction.Members(op.collection)
	switch {
	case op.edits != nil:
		return leads && op.edits.touch(names)
	case op.Kind == OpUpsert:
		return true
	}
	return leads
}

// transactionHooks returns the hooks that the operations concern, each once; nil
// is none.
func transactionHooks(ops []Operation) []TransactionHook {
	if !slices.ContainsFunc(ops, func(op Operation) bool { return op.concerns() }) {
		return nil
	}
	var all []TransactionHook
	for i := range ops {
		if !ops[i].told() {
			continue
		}
		if b := ops[i].collection.hooks.transaction; !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

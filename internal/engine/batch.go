package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/cosmosgrove/grove/tenantitem"
)

// MaxBatchOperations is the service's limit on one transactional batch.
const MaxBatchOperations = 100

// Part is a batch of one collection as the engine commits it.
type Part struct {
	Collection *Collection
	At         *Partition
	Ops        []Operation
	Err        error
	// Before and after let hooks take part.
	Before, After func(context.Context) error
}

// BatchError names the operation that failed a batch.
type BatchError struct {
	// Index is its place in the batch, from 0; in partition.Commit the parts'
	// operations are counted one after another.
	Index int
	// Verb and ID say what it was about.
	Verb, ID string
	// Status is the HTTP status of that operation.
	Status int
	// Substatus tells it from others of that status; 0 where the service did not say.
	Substatus int
}

// Error names the operation and its status.
func (e *BatchError) Error() string {
	status := strconv.Itoa(e.Status)
	if e.Substatus != 0 {
		status += "/" + strconv.Itoa(e.Substatus)
	}
	return fmt.Sprintf("operation %d of the batch, %s %q: HTTP %s; nothing was applied", e.Index, e.Verb, e.ID, status)
}

// CommitParts applies the parts as one transaction. What the service answered is
// taken apart for each operation by sendBatch in send.go (over readResults in
// internal/cosmos/batch.go); Done of an operation gets its result here.
func CommitParts(ctx context.Context, parts []Part) error {
	if len(parts) == 0 {
		return &Error{Op: "Batch", Err: &tenantitem.InvalidError{What: "batch", Reason: "it has no parts", Hint: "pass at least one Batch"}}
	}
	k := Call{Collection: parts[0].Collection, Op: "Batch", At: parts[0].At, batch: true}
	ctx = k.Begin(ctx)
	return k.End(commit(ctx, &k, parts))
}

func commit(ctx context.Context, k *Call, parts []Part) error {
	for _, p := range parts {
		if ctx = p.Collection.WithJoinedRead(ctx); p.Collection.hooks.read != nil {
			break
		}
	}
	ops, err := joinParts(ctx, k, parts)
	if err != nil {
		return err
	}
	if err := k.refuseTakenOps(ctx, ops); err != nil {
		return err
	}
	hooked := withSiblings(ctx, parts)
	for _, p := range parts {
		if err := p.Before(hooked); err != nil {
			return err
		}
	}
	for i := range ops {
		if err := ops[i].Prepare(&ops[i]); err != nil {
			return err
		}
	}
	if size := batchSize(ops); size > tenantitem.MaxDocumentBytes {
		return errTooLarge("batch", size)
	}
	results, err := k.transact(ctx, ops, false)
	if err != nil {
		return err
	}
	var unread error
	for i := range ops {
		if ops[i].Done == nil || i >= len(results) {
			continue
		}
		if err := ops[i].Done(&ops[i], results[i]); err != nil {
			unread = errors.Join(unread, fmt.Errorf("the batch was applied, but what was read of %q does not belong here: %w", ops[i].ID, err))
		}
	}
	// Whatever fails, what follows the rest is done.
	failures := []error{unread, finishDeletes(ctx, ops)}
	for _, p := range parts {
		err := p.After(ctx)
		if err != nil && isDefinite(err) && !onlyCreates(ops, p) {
			err = &incompleteError{err}
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// onlyCreates reports whether a batch did nothing but create the documents of one
// part. Where a hook refuses those after the write, it has removed them all.
func onlyCreates(ops []Operation, p Part) bool {
	isRead := func(op Operation) bool { return op.Kind == OpRead }
	written := slices.DeleteFunc(slices.Clone(p.Ops), isRead)
	return len(written) == len(slices.DeleteFunc(slices.Clone(ops), isRead)) &&
		!slices.ContainsFunc(written, func(op Operation) bool { return op.Kind != OpCreate })
}

// joinParts puts the parts' operations together and checks what they share.
func joinParts(ctx context.Context, k *Call, parts []Part) ([]Operation, error) {
	var ops []Operation
	for _, p := range parts {
		c, at, err := p.Collection, p.At, p.Err
		if err == nil {
			err = (&Call{Collection: c, Op: k.Op, At: at}).Start(ctx)
		}
		if err == nil {
			err = at.RequireFull(c)
		}
		if err != nil {
			return nil, err
		}
		if c.Container != k.Collection.Container {
			return nil, &tenantitem.InvalidError{What: "batch", Reason: "its parts use different container clients", Hint: "make their repositories with one *azcosmos.ContainerClient"}
		}
		if KeyText(at.Values) != KeyText(k.At.Values) {
			return nil, &tenantitem.InvalidError{What: "batch", Reason: "its parts lie in different logical partitions", Hint: "a transaction can't span them; commit each on its own"}
		}
		if at.Tenant != k.At.Tenant { // the key need not hold it
			return nil, ErrTenantMismatch
		}
		ops = append(ops, p.Ops...)
	}
	if len(ops) == 0 || len(ops) > MaxBatchOperations {
		return nil, &tenantitem.InvalidError{What: "batch", Reason: fmt.Sprintf("%d operations", len(ops)), Hint: "give 1 to 100; SaveAll splits larger sets"}
	}
	return ops, nil
}

// PartHandle is embedded by a typed batch and leads to its part of a
// transaction.
type PartHandle struct{ part func() Part }

// PartOf makes the handle of a batch.
func PartOf(part func() Part) PartHandle { return PartHandle{part} }

func (h *PartHandle) asPart() (Part, bool) {
	if h.part == nil {
		return Part{}, false
	}
	return h.part(), true
}

// CommitTogether applies typed batches as one.
func CommitTogether[B any](ctx context.Context, batches []B) error {
	parts := make([]Part, len(batches))
	for i, b := range batches {
		batch, ok := any(b).(interface{ asPart() (Part, bool) })
		v := reflect.ValueOf(b)
		if ok = ok && v.Kind() == reflect.Pointer && !v.IsNil(); ok {
			parts[i], ok = batch.asPart()
		}
		if !ok {
			return &Error{Op: "Batch", Err: &tenantitem.InvalidError{What: "batch", Reason: fmt.Sprintf("part %d is not a batch of a scope, or is nil", i), Hint: "pass what Scope.Batch returns"}}
		}
	}
	return CommitParts(ctx, parts)
}

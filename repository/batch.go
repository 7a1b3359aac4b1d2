package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/tenantitem"
)

// MaxBatchOperations is the service's limit on one transactional batch.
const MaxBatchOperations = 100

// Batch collects operations on documents of one logical partition, to be
// applied all or none by Commit, in their order. The scope must name the full
// partition key. A batch is used once, by one goroutine. The first mistake is
// kept and returned by Commit, before any request.
type Batch[T any] struct {
	scope *Scope[T]
	ops   []operation
	err   error
	// hidden is what hooks add to the document of each operation.
	hidden map[int][]byte
}

// Batch starts a batch in this scope.
func (s *Scope[T]) Batch() *Batch[T] { return &Batch[T]{scope: s} }

// Create adds the creation of a new document; see [Scope.Create].
func (b *Batch[T]) Create(entity *T) *Batch[T] {
	return b.whole(opCreate, entity)
}

// Replace adds the replacement of a document; the entity's ETag is required.
func (b *Batch[T]) Replace(entity *T) *Batch[T] {
	if b.err == nil && entity != nil && b.scope.repo.meta(entity).ETag == "" {
		b.err = &tenantitem.InvalidError{What: "entity", Reason: "it has no etag", Hint: "read it first, or use Upsert to overwrite without looking"}
	}
	return b.whole(opReplace, entity)
}

// Upsert adds the overwriting of a document; see [Scope.Upsert].
func (b *Batch[T]) Upsert(entity *T) *Batch[T] {
	return b.whole(opUpsert, entity)
}

// Save adds a creation or a replacement, by whether the entity has an ETag.
func (b *Batch[T]) Save(entity *T) *Batch[T] {
	if entity != nil && b.scope.repo.meta(entity).ETag != "" {
		return b.Replace(entity)
	}
	return b.Create(entity)
}

func (b *Batch[T]) whole(kind operationKind, entity *T) *Batch[T] {
	if b.err != nil {
		return b
	}
	if b.err = b.scope.at.requireFull(b.scope.repo.core); b.err != nil {
		return b
	}
	at, err := b.scope.bindEntity(entity, kind != opReplace)
	if err == nil && keyText(at.values) != keyText(b.scope.at.values) {
		err = &tenantitem.InvalidError{What: "entity", Reason: "it is stored under an older entity type, in another logical partition", Hint: "write it on its own"}
	}
	if err != nil {
		b.err = err
		return b
	}
	meta := b.scope.repo.meta(entity)
	based, index := meta.ETag, len(b.ops)
	b.ops = append(b.ops, operation{
		kind: kind, id: meta.ID, entity: entity,
		prepare: func(op *operation) error {
			op.mark = b.scope.repo.core.mark()
			if kind == opReplace {
				op.etag = based
			}
			body, err := b.scope.encode(entity, b.scope.repo.core.marksOf(op, kind, entity), b.hidden[index])
			op.writes(b.scope.repo.core, kind, body)
			return err
		},
		done: func(op *operation, r result) error {
			b.scope.written(entity, r.etag, op.body)
			return nil
		},
	})
	return b
}

// Patch adds a patch; see [Scope.Patch]. Its condition and IfMatch hold for
// the whole batch: if they fail, nothing is applied.
func (b *Batch[T]) Patch(id string, edits Edits) *Batch[T] {
	return b.byID(opPatch, id, func(op *operation) error {
		mark := b.scope.repo.core.mark()
		ops, isMarked, err := b.scope.repo.core.operations(edits, mark)
		if err != nil {
			return err
		}
		if isMarked {
			op.mark = mark
		}
		op.etag = edits.etag
		encoded, err := ops.MarshalJSON()
		op.size = sentSize(encoded)
		op.patch = ops
		op.followedBy(b.scope.repo.core, &edits)
		return err
	}, nil)
}

// Read adds the reading of one document into dst, as it is at that point of
// the batch. A document that is not there fails the batch. One that is of
// another species is [ErrEntityMismatch] although the batch was applied.
func (b *Batch[T]) Read(id string, dst *T) *Batch[T] {
	return b.byID(opRead, id, func(op *operation) error {
		if dst == nil {
			return &tenantitem.InvalidError{What: "batch", Reason: "Read has nowhere to put the document", Hint: "pass a pointer"}
		}
		return nil
	}, func(_ *operation, r result) error {
		entity, err := b.scope.decode(r.body)
		if err == nil {
			*dst = *entity
		}
		return err
	})
}

func (b *Batch[T]) byID(kind operationKind, id string, prepare func(*operation) error, done func(*operation, result) error) *Batch[T] {
	if b.err == nil {
		b.err = tenantitem.ValidateID(id)
	}
	b.ops = append(b.ops, operation{kind: kind, id: id, prepare: prepare, done: done})
	return b
}

// Commit applies the batch. On success every entity has its new etag. On
// failure nothing was applied, the entities are as before, and the error
// holds a [*BatchError] that names the operation at fault.
//
// Where other documents of the partition keep account of these, as package
// denorm declares, their changes join the batch as far as it has room.
func (b *Batch[T]) Commit(ctx context.Context) error { return CommitTogether(ctx, b) }

// Part is a [*Batch] of any species, for CommitTogether.
type Part interface {
	part() (*core, *partition, []operation, error)
	runHooks(ctx context.Context) error
	runAfterHooks(ctx context.Context) error
}

func (b *Batch[T]) part() (*core, *partition, []operation, error) {
	return b.scope.repo.core, &b.scope.at, b.ops, b.err
}

func (b *Batch[T]) runHooks(ctx context.Context) error {
	if err := b.runDeleteHooks(ctx); err != nil {
		return err
	}
	var entities []*T
	var at []int
	for i, op := range b.ops {
		if e, ok := op.entity.(*T); ok {
			entities, at = append(entities, e), append(at, i)
		}
	}
	if len(entities) == 0 || !b.scope.repo.core.hooks.seeWrites() {
		return nil
	}
	w := writeOf(b.scope.at.tenant, entities)
	for i := range entities {
		w.New[i] = b.ops[at[i]].kind == opCreate
	}
	if err := b.scope.beforeWrite(ctx, w); err != nil {
		return err
	}
	b.hidden = map[int][]byte{}
	for i := range entities {
		b.hidden[at[i]] = w.hidden[i]
	}
	return nil
}

func (b *Batch[T]) runAfterHooks(ctx context.Context) error {
	written := map[bool][]*T{}
	for _, op := range b.ops {
		if e, ok := op.entity.(*T); ok {
			created := op.kind == opCreate
			written[created] = append(written[created], e)
		}
	}
	for created, entities := range written {
		if err := b.scope.afterWrite(ctx, created, entities...); err != nil {
			return err
		}
	}
	return nil
}

// BatchError names the operation that failed a batch.
type BatchError struct {
	// Index is its place in the batch, from 0; in CommitTogether the parts'
	// operations are counted one after another.
	Index int
	// Verb and ID say what it was about.
	Verb, ID string
	// Status is the HTTP status of that operation.
	Status int
}

// Error names the operation and its status.
func (e *BatchError) Error() string {
	return fmt.Sprintf("operation %d of the batch, %s %q: HTTP %d; nothing was applied", e.Index, e.Verb, e.ID, e.Status)
}

// CommitTogether applies several batches as one: documents of different
// species that share a logical partition of one container, such as a customer
// and its orders under /tenantId,/customerId. Otherwise it is Commit.
func CommitTogether(ctx context.Context, parts ...Part) error {
	if len(parts) == 0 {
		return &Error{Op: "Batch", Err: &tenantitem.InvalidError{What: "batch", Reason: "it has no parts", Hint: "pass at least one Batch"}}
	}
	first, at, _, _ := parts[0].part()
	k := call{core: first, op: "Batch", at: at, batch: true}
	ctx = k.begin(ctx)
	return k.end(commit(ctx, &k, parts))
}

func commit(ctx context.Context, k *call, parts []Part) error {
	ops, err := joinParts(ctx, k, parts)
	if err != nil {
		return err
	}
	if err := k.refuseTakenOps(ctx, ops); err != nil {
		return err
	}
	hooked := withSiblings(ctx, parts)
	for _, p := range parts {
		if err := p.runHooks(hooked); err != nil {
			return err
		}
	}
	for i := range ops {
		if err := ops[i].prepare(&ops[i]); err != nil {
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
		if ops[i].done == nil || i >= len(results) {
			continue
		}
		if err := ops[i].done(&ops[i], results[i]); err != nil {
			unread = errors.Join(unread, fmt.Errorf("the batch was applied, but what was read of %q does not belong here: %w", ops[i].id, err))
		}
	}
	if err := finishDeletes(ctx, ops); err != nil {
		return errors.Join(unread, err)
	}
	for _, p := range parts {
		if err := p.runAfterHooks(ctx); err != nil {
			return errors.Join(unread, err)
		}
	}
	return unread
}

// joinParts puts the parts' operations together and checks what they share.
func joinParts(ctx context.Context, k *call, parts []Part) ([]operation, error) {
	var ops []operation
	for _, p := range parts {
		c, at, more, err := p.part()
		if err == nil {
			err = (&call{core: c, op: k.op, at: at}).start(ctx)
		}
		if err == nil {
			err = at.requireFull(c)
		}
		if err != nil {
			return nil, err
		}
		if c.container != k.core.container {
			return nil, &tenantitem.InvalidError{What: "batch", Reason: "its parts use different container clients", Hint: "make their repositories with one *azcosmos.ContainerClient"}
		}
		if keyText(at.values) != keyText(k.at.values) {
			return nil, &tenantitem.InvalidError{What: "batch", Reason: "its parts lie in different logical partitions", Hint: "a transaction can't span them; commit each on its own"}
		}
		ops = append(ops, more...)
	}
	if len(ops) == 0 || len(ops) > MaxBatchOperations {
		return nil, &tenantitem.InvalidError{What: "batch", Reason: fmt.Sprintf("%d operations", len(ops)), Hint: "give 1 to 100; SaveAll splits larger sets"}
	}
	return ops, nil
}

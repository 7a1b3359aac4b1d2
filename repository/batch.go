package repository

import (
	"context"
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Batch collects operations on documents of one logical partition, to be
// applied all or none by Commit, in their order. The scope must name the full
// partition key. A batch is used once, by one goroutine. The first mistake is
// kept and returned by Commit, before any request.
type Batch[T any] struct {
	scope *Scope[T]
	ops   []engine.Operation
	err   error
	// hidden is what hooks add to the document of each operation.
	hidden map[int][]byte
}

// Batch starts a batch in this scope.
func (s *Scope[T]) Batch() *Batch[T] { return &Batch[T]{scope: s} }

// Create adds the creation of a new document; see [Scope.Create].
func (b *Batch[T]) Create(entity *T) *Batch[T] {
	return b.whole(engine.OpCreate, entity)
}

// Replace adds the replacement of a document; the entity's ETag is required.
func (b *Batch[T]) Replace(entity *T) *Batch[T] {
	if b.err == nil && entity != nil && b.scope.repo.meta(entity).ETag == "" {
		b.err = &tenantitem.InvalidError{What: "entity", Reason: "it has no etag", Hint: "read it first, or use Upsert to overwrite without looking"}
	}
	return b.whole(engine.OpReplace, entity)
}

// Upsert adds the overwriting of a document; see [Scope.Upsert].
func (b *Batch[T]) Upsert(entity *T) *Batch[T] {
	return b.whole(engine.OpUpsert, entity)
}

// Save adds a creation or a replacement, by whether the entity has an ETag.
func (b *Batch[T]) Save(entity *T) *Batch[T] {
	if entity != nil && b.scope.repo.meta(entity).ETag != "" {
		return b.Replace(entity)
	}
	return b.Create(entity)
}

func (b *Batch[T]) whole(kind engine.OperationKind, entity *T) *Batch[T] {
	if b.err != nil {
		return b
	}
	if b.err = b.scope.at.RequireWritable(b.scope.repo.core()); b.err != nil {
		return b
	}
	at, err := b.scope.bindEntity(entity, kind != engine.OpReplace)
	if err == nil && !b.scope.at.Full { // the first entity says where the batch lies
		b.scope = b.scope.located(at)
	}
	if err == nil && engine.KeyText(at.Values) != engine.KeyText(b.scope.at.Values) {
		err = &tenantitem.InvalidError{What: "entity", Reason: "it is stored under an older entity type, in another logical partition", Hint: "write it on its own"}
	}
	if err != nil {
		b.err = err
		return b
	}
	meta := b.scope.repo.meta(entity)
	based, index := meta.ETag, len(b.ops)
	b.ops = append(b.ops, engine.Operation{
		Kind: kind, ID: meta.ID, Entity: entity,
		Prepare: func(op *engine.Operation) error {
			op.Mark = b.scope.repo.core().Mark()
			if kind == engine.OpReplace {
				op.ETag = based
			}
			body, err := b.scope.encode(entity, b.scope.repo.core().MarksOf(op, kind, entity), b.hidden[index])
			op.Writes(b.scope.repo.core(), kind, body)
			return err
		},
		Done: func(op *engine.Operation, r engine.Result) error {
			b.scope.written(entity, r.ETag, op.Body)
			return nil
		},
	})
	return b
}

// Patch adds a patch; see [Scope.Patch]. Its condition and IfMatch hold for
// the whole batch: if they fail, nothing is applied.
func (b *Batch[T]) Patch(id string, edits Edits) *Batch[T] {
	return b.byID(engine.OpPatch, id, func(op *engine.Operation) error {
		mark := b.scope.repo.core().Mark()
		ops, isMarked, err := b.scope.repo.core().Operations(edits.e, mark)
		if err != nil {
			return err
		}
		if isMarked {
			op.Mark = mark
		}
		op.ETag = edits.e.ETag
		encoded, err := ops.MarshalJSON()
		op.Size = len(encoded)
		op.Patch = ops
		op.FollowedBy(b.scope.repo.core(), &edits.e)
		return err
	}, nil)
}

// Read adds the reading of one document into dst, as it is at that point of
// the batch. A document that is not there fails the batch. One that is of
// another entity type is [ErrEntityMismatch] although the batch was applied.
func (b *Batch[T]) Read(id string, dst *T) *Batch[T] {
	return b.byID(engine.OpRead, id, func(op *engine.Operation) error {
		if dst == nil {
			return &tenantitem.InvalidError{What: "batch", Reason: "Read has nowhere to put the document", Hint: "pass a pointer"}
		}
		return nil
	}, func(_ *engine.Operation, r engine.Result) error {
		entity, err := b.scope.decode(r.Body)
		if err == nil {
			*dst = *entity
		}
		return err
	})
}

func (b *Batch[T]) byID(kind engine.OperationKind, id string, prepare func(*engine.Operation) error, done func(*engine.Operation, engine.Result) error) *Batch[T] {
	if b.err == nil {
		b.err = tenantitem.ValidateID(id)
	}
	if at, ok := b.scope.repo.core().CompletedByID(b.scope.at, id); ok && b.err == nil {
		b.scope = b.scope.located(at)
	}
	b.ops = append(b.ops, engine.Operation{Kind: kind, ID: id, Reads: b.scope.repo.core(), Prepare: prepare, Done: done})
	return b
}

// Commit applies the batch. On success every entity has its new etag. On
// failure nothing was applied, the entities are as before, and the error
// holds a [*BatchError] that names the operation at fault.
//
// Where other documents of the partition keep account of these, as package
// denorm declares, their changes join the batch as far as it has room.
func (b *Batch[T]) Commit(ctx context.Context) error {
	return engine.CommitParts(ctx, []engine.Part{b.part()})
}

func (b *Batch[T]) part() engine.Part {
	return engine.Part{Collection: b.scope.repo.core(), At: &b.scope.at, Ops: b.ops, Err: b.err, Before: b.runHooks, After: b.runAfterHooks}
}

func (b *Batch[T]) runHooks(ctx context.Context) error {
	if err := b.runDeleteHooks(ctx); err != nil {
		return err
	}
	var entities []*T
	var at []int
	for i, op := range b.ops {
		if e, ok := op.Entity.(*T); ok {
			entities, at = append(entities, e), append(at, i)
		}
	}
	if len(entities) == 0 || !b.scope.repo.core().SeesWrites() {
		return nil
	}
	w := engine.WriteOf(b.scope.at.Tenant, entities)
	for i := range entities {
		w.New[i] = b.ops[at[i]].Kind == engine.OpCreate
	}
	if err := b.scope.repo.core().BeforeWrite(ctx, w); err != nil {
		return err
	}
	b.hidden = map[int][]byte{}
	for i := range entities {
		b.hidden[at[i]] = w.Hidden[i]
	}
	return nil
}

func (b *Batch[T]) runAfterHooks(ctx context.Context) error {
	written := map[bool][]*T{}
	for _, op := range b.ops {
		if e, ok := op.Entity.(*T); ok {
			created := op.Kind == engine.OpCreate
			written[created] = append(written[created], e)
		}
	}
	if err := b.scope.afterWrite(ctx, true, written[true]...); err != nil {
		return err
	}
	return b.scope.afterWrite(ctx, false, written[false]...)
}

// CommitTogether applies several batches as one: documents of different
// entity types that share a logical partition of one container, such as a customer
// and its orders under /tenantId,/customerId. The batches are [*Batch] of any
// entity types; anything else is [ErrInvalid]. Batches of two tenants are
// [ErrTenantMismatch] where the key would let them share a partition.
func CommitTogether(ctx context.Context, batches ...interface{ Commit(context.Context) error }) error {
	parts := make([]engine.Part, len(batches))
	for i, b := range batches {
		p, ok := b.(interface{ part() engine.Part })
		if !ok || reflect.ValueOf(b).IsNil() {
			return &Error{Op: "Batch", Err: &tenantitem.InvalidError{What: "batch", Reason: fmt.Sprintf("part %d is not a batch of a scope, or is nil", i), Hint: "pass what Scope.Batch returns"}}
		}
		parts[i] = p.part()
	}
	return engine.CommitParts(ctx, parts)
}

// Limits of the service that are checked before a request is sent. Source:
// Microsoft Learn, "Azure Cosmos DB service quotas".
const (
	// MaxBatchOperations is the limit on one transactional batch, which may
	// hold 2 MB besides.
	MaxBatchOperations = engine.MaxBatchOperations
	// MaxPatchOperations is the limit on one patch.
	MaxPatchOperations = engine.MaxPatchOperations
)

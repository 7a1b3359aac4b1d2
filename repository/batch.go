package repository

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Batch collects operations on documents of one logical partition. Its methods
// are those of [BatchOf].
type Batch[T any] = BatchOf[*T]

// BatchOf is [Batch] over the pointer P of an entity: operations on documents
// of one logical partition, to be applied all or none by Commit, in their
// order. The scope must name the full partition key. A batch is used once, by
// one goroutine. The first mistake is kept and returned by Commit, before any
// request.
type BatchOf[P any] struct {
	batch batch
	part
}

// part is how Grove's other packages reach a batch's part of a transaction.
type part = engine.PartHandle

// batch is a batch without its entity's Go type.
type batch struct {
	scope *scope
	ops   []engine.Operation
	err   error
	// hidden is what hooks add to the document of each operation.
	hidden map[int][]byte
	// created are the operations of which the answer says that nothing was there.
	created map[int]bool
}

// Batch starts a batch in this scope.
//
//go:noinline
func (s *ScopeOf[P]) Batch() *BatchOf[P] {
	b := &BatchOf[P]{batch: batch{scope: &s.Reader.scope, created: map[int]bool{}}}
	b.part = engine.PartOf(b.batch.part)
	return b
}

// Create adds the creation of a new document; see [ScopeOf.Create].
//
//go:noinline
func (b *BatchOf[P]) Create(entity P) *BatchOf[P] {
	b.batch.whole(engine.OpCreate, entity)
	return b
}

// Replace adds the replacement of a document; the entity's ETag is required.
//
//go:noinline
func (b *BatchOf[P]) Replace(entity P) *BatchOf[P] {
	b.batch.replace(entity)
	return b
}

func (b *batch) replace(entity any) {
	if b.err == nil && !isNil(entity) && engine.MetaOf(entity).ETag == "" {
		b.err = &tenantitem.InvalidError{What: "entity", Reason: "it has no etag", Hint: "read it first, or use Upsert to overwrite without looking"}
	}
	b.whole(engine.OpReplace, entity)
}

// Upsert adds the overwriting of a document; see [ScopeOf.Upsert].
//
//go:noinline
func (b *BatchOf[P]) Upsert(entity P) *BatchOf[P] {
	b.batch.whole(engine.OpUpsert, entity)
	return b
}

// Save adds a creation or a replacement, by whether the entity has an ETag.
//
//go:noinline
func (b *BatchOf[P]) Save(entity P) *BatchOf[P] {
	b.batch.save(entity)
	return b
}

func (b *batch) save(entity any) {
	if !isNil(entity) && engine.MetaOf(entity).ETag != "" {
		b.replace(entity)
		return
	}
	b.whole(engine.OpCreate, entity)
}

func (b *batch) whole(kind engine.OperationKind, entity any) {
	if b.err != nil {
		return
	}
	if b.err = b.scope.at.RequireWritable(b.scope.c); b.err != nil {
		return
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
		return
	}
	meta := engine.MetaOf(entity)
	based, index := meta.ETag, len(b.ops)
	b.ops = append(b.ops, engine.Operation{
		Kind: kind, ID: meta.ID, Entity: entity,
		Prepare: func(op *engine.Operation) error {
			op.Mark = b.scope.c.Mark()
			if kind == engine.OpReplace {
				op.ETag = based
			}
			body, err := b.scope.encode(entity, b.scope.c.MarksOf(op, kind, entity), b.hidden[index])
			op.Writes(b.scope.c, kind, body)
			return err
		},
		Done: func(op *engine.Operation, r engine.Result) error {
			b.scope.written(entity, r.ETag, op.Body)
			if kind == engine.OpCreate || r.Status == http.StatusCreated {
				b.created[index] = true
			}
			return nil
		},
	})
}

// Patch adds a patch; see [ScopeOf.Patch]. Its condition and IfMatch hold for
// the whole batch: if they fail, nothing is applied.
//
//go:noinline
func (b *BatchOf[P]) Patch(id string, edits Edits) *BatchOf[P] {
	b.batch.patch(id, edits)
	return b
}

func (b *batch) patch(id string, edits Edits) {
	b.byID(engine.OpPatch, id, func(op *engine.Operation) error {
		mark := b.scope.c.Mark()
		ops, isMarked, err := b.scope.c.Operations(b.scope.at.Tenant, edits.e, mark)
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
		op.FollowedBy(b.scope.c, &edits.e)
		return err
	}, nil)
}

// Read adds the reading of one document into dst, as it is at that point of
// the batch. A document that is not there fails the batch. One that is of
// another entity type is [ErrEntityMismatch] although the batch was applied.
//
//go:noinline
func (b *BatchOf[P]) Read(id string, dst P) *BatchOf[P] {
	b.batch.read(id, dst)
	return b
}

func (b *batch) read(id string, dst any) {
	b.byID(engine.OpRead, id, func(*engine.Operation) error {
		if isNil(dst) {
			return &tenantitem.InvalidError{What: "batch", Reason: "Read has nowhere to put the document", Hint: "pass a pointer"}
		}
		return nil
	}, func(_ *engine.Operation, r engine.Result) error {
		entity, err := b.scope.decode(r.Body)
		if err == nil {
			reflect.ValueOf(dst).Elem().Set(reflect.ValueOf(entity).Elem())
		}
		return err
	})
}

func (b *batch) byID(kind engine.OperationKind, id string, prepare func(*engine.Operation) error, done func(*engine.Operation, engine.Result) error) {
	if b.err == nil {
		b.err = tenantitem.ValidateID(id)
	}
	if at, ok := b.scope.c.CompletedByID(b.scope.at, id); ok && b.err == nil {
		b.scope = b.scope.located(at)
	}
	b.ops = append(b.ops, engine.Operation{Kind: kind, ID: id, Reads: b.scope.c, Prepare: prepare, Done: done})
}

// Commit applies the batch. More than 100 operations, or more than 2 MB of them, are
// [ErrInvalid] or [ErrTooLarge] before any request. On success every entity has its new etag. On
// failure nothing was applied, the entities are as before, and the error
// holds a [*BatchError] that names the operation at fault. After [ErrAmbiguous]
// it may have been applied; it has been, but for the children of a parent that
// was deleted in that instant, where the error is [ErrDanglingRef] as well.
//
// Where other documents of the partition keep account of these, as package
// denorm declares, their changes join the batch as far as it has room.
//
//go:noinline
func (b *BatchOf[P]) Commit(ctx context.Context) error {
	return engine.CommitParts(ctx, []engine.Part{b.batch.part()})
}

func (b *batch) part() engine.Part {
	return engine.Part{Collection: b.scope.c, At: &b.scope.at, Ops: b.ops, Err: b.err, Before: b.runHooks, After: b.runAfterHooks}
}

func (b *batch) runHooks(ctx context.Context) error {
	if err := b.runDeleteHooks(ctx); err != nil {
		return err
	}
	var entities []any
	var at []int
	for i, op := range b.ops {
		if op.Entity != nil {
			entities, at = append(entities, op.Entity), append(at, i)
		}
	}
	if len(entities) == 0 || !b.scope.c.SeesWrites() {
		return nil
	}
	w := engine.WriteOf(b.scope.at.Tenant, entities)
	for i := range entities {
		w.New[i] = b.ops[at[i]].Kind == engine.OpCreate
	}
	if err := b.scope.c.BeforeWrite(ctx, w); err != nil {
		return err
	}
	b.hidden = map[int][]byte{}
	for i := range entities {
		b.hidden[at[i]] = w.Hidden[i]
	}
	return nil
}

func (b *batch) runAfterHooks(ctx context.Context) error {
	written := map[bool][]any{}
	for i, op := range b.ops {
		if op.Entity != nil {
			written[b.created[i]] = append(written[b.created[i]], op.Entity)
		}
	}
	return errors.Join(b.scope.afterWrite(ctx, true, written[true]...), b.scope.afterWrite(ctx, false, written[false]...))
}

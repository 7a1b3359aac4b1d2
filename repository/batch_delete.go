package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Delete adds the removal of one document, if it still has that etag; an empty
// etag removes any.
//
// An entity type with delete rules is marked as deleted in the batch, which hides
// it, and Commit carries the rules out after that: they reach into other
// partitions, which a transaction can't. Should that fail, the batch stays
// applied, the error says so, and another Delete of the document, or the
// forest's Resume, finishes it. A rule that may forbid the delete, and soft
// deletes, are refused here; use the scope's Delete.
//
//go:noinline
func (b *BatchOf[P]) Delete(id, etag string) *BatchOf[P] {
	b.batch.delete(id, etag)
	return b
}

func (b *batch) delete(id, etag string) {
	b.byID(engine.OpDelete, id, func(op *engine.Operation) error {
		op.ETag = etag
		return b.scope.c.PlanDelete(&b.scope.at, op)
	}, nil)
}

// runDeleteHooks lets hooks refuse the deletes of the batch, and refuses what would
// meet another entity type's or tenant's document.
func (b *batch) runDeleteHooks(ctx context.Context) error {
	c := b.scope.c
	var unseen []string
	for _, op := range b.ops {
		switch op.Kind {
		case engine.OpDelete:
			if err := c.AllowDelete(ctx, engine.Deletion{TenantID: b.scope.at.Tenant, Key: c.Given(b.scope.at.Values), ID: op.ID, ETag: op.ETag}); err != nil {
				return err
			}
			unseen = append(unseen, op.ID)
		case engine.OpUpsert:
			unseen = append(unseen, op.ID)
		case engine.OpReplace:
			if etag := engine.MetaOf(op.Entity).ETag; c.LooksFirst(etag, engine.HeldMarks(op.Entity, etag)) {
				unseen = append(unseen, op.ID)
			}
		}
	}
	k := engine.Call{Collection: c, Op: "Batch", At: &b.scope.at}
	return k.RefuseForeign(ctx, &b.scope.at, unseen...)
}

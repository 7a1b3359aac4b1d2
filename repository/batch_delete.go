package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Delete adds the removal of one document, if it still has that etag; an empty
// etag removes any.
//
// A species with delete rules is marked as deleted in the batch, which hides
// it, and Commit carries the rules out after that: they reach into other
// partitions, which a transaction can't. Should that fail, the batch stays
// applied, the error says so, and another Delete of the document, or the
// forest's Resume, finishes it. A rule that may forbid the delete, and soft
// deletes, are refused here; use the scope's Delete.
func (b *Batch[T]) Delete(id, etag string) *Batch[T] {
	return b.byID(opDelete, id, func(op *operation) error {
		op.etag = etag
		if b.scope.repo.core.hooks.Delete != nil {
			return b.markDeleted(op)
		}
		op.deletes(b.scope.repo.core)
		return nil
	}, nil)
}

func (b *Batch[T]) markDeleted(op *operation) error {
	c := b.scope.repo.core
	if c.hooks.BatchDelete == nil {
		return &tenantitem.InvalidError{What: "batch", Reason: c.entityType + " has delete rules", Hint: "use the scope's Delete"}
	}
	begun, err := c.hooks.BatchDelete(Deletion{TenantID: b.scope.at.tenant, Key: c.given(b.scope.at.values), ID: op.id, ETag: op.etag})
	if err != nil {
		return err
	}
	op.kind, op.mark = opPatch, c.mark()
	ops := patchBetween(Stub{}, begun.Mark)
	ops.AppendSet("/"+markField, op.mark)
	ops.SetCondition("FROM c WHERE NOT IS_DEFINED(c.deletedAt)")
	op.patch = ops
	op.species, op.after = c, func(before *Document) *Document { return before.with(nil, begun.Mark.DeletedAt) }
	op.finish = begun.Finish
	return nil
}

// runDeleteHooks lets hooks refuse the deletes of the batch.
func (b *Batch[T]) runDeleteHooks(ctx context.Context) error {
	c := b.scope.repo.core
	var unseen []string
	for _, op := range b.ops {
		if op.kind != opDelete {
			continue
		}
		if err := c.beforeDelete(ctx, Deletion{TenantID: b.scope.at.tenant, Key: c.given(b.scope.at.values), ID: op.id, ETag: op.etag}); err != nil {
			return err
		}
		unseen = append(unseen, op.id)
	}
	k := call{core: c, op: "Batch", at: &b.scope.at}
	return k.refuseForeign(ctx, &b.scope.at, unseen...)
}

// finishDeletes carries out the rules of what an applied batch has marked.
func finishDeletes(ctx context.Context, ops []operation) error {
	var failures []error
	for _, op := range ops {
		if op.finish == nil {
			continue
		}
		if err := op.finish(ctx); err != nil {
			failures = append(failures, fmt.Errorf("the batch was applied, but what belongs to %q is not deleted yet (delete it again to finish): %w", op.id, err))
		}
	}
	return errors.Join(failures...)
}

package engine

import (
	"context"
	"errors"
	"fmt"
)

// PlanDelete makes an operation of a batch the delete of its document.
func (c *Collection) PlanDelete(at *Partition, op *Operation) error {
	if c.hooks.policy != nil {
		return c.markDeleted(at, op)
	}
	op.Deletes(c)
	return nil
}

// markDeleted makes an operation the beginning of a delete under rules.
func (c *Collection) markDeleted(at *Partition, op *Operation) error {
	begun, err := c.hooks.policy.Begin(Deletion{TenantID: at.Tenant, Key: c.Given(at.Values), ID: op.ID, ETag: op.ETag})
	if err != nil {
		return err
	}
	op.Kind, op.Mark = OpPatch, c.Mark()
	ops := patchBetween(Document{}, begun.Mark)
	ops.Set("/"+markField, op.Mark)
	ops.Condition = `FROM c WHERE NOT IS_DEFINED(c["deletedAt"])`
	op.Patch = ops
	op.collection, op.after = c, func(before *Document) *Document { return before.with(nil, begun.Mark.DeletedAt) }
	op.finish = begun.Finish
	return nil
}

// finishDeletes carries out the rules of what an applied batch has marked.
func finishDeletes(ctx context.Context, ops []Operation) error {
	var failures []error
	for _, op := range ops {
		if op.finish == nil {
			continue
		}
		if err := op.finish(ctx); err != nil {
			failures = append(failures, fmt.Errorf("%w: the batch was applied, but what belongs to %q is not deleted yet (delete it again to finish): %w", ErrAmbiguous, op.ID, err))
		}
	}
	return errors.Join(failures...)
}

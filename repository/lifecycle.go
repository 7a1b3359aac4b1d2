package repository

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/tenantitem"
)

// DeletePlan says what a delete would do; nothing was changed.
type DeletePlan struct {
	// Removed counts the documents that would go, by entity type; the one
	// that is deleted is among them.
	Removed map[string]int64
	// Orphaned counts the children that would stay without their parent.
	Orphaned map[string]int64
	// Restricting counts the children that forbid the delete. If there are
	// any, Delete fails with [ErrHasChildren] and nothing goes.
	Restricting map[string]int64
	// RequestUnits is about what the delete would cost, in RU, for documents
	// of about 1 KB under the default indexing policy.
	RequestUnits float64
}

// What one document costs, in RU, for the estimate of a plan: the published
// figures for a document of 1 KB with every property indexed.
const (
	estimatedRead  = 1
	estimatedWrite = 10
)

// Estimate sets RequestUnits from the counts.
func (p *DeletePlan) Estimate() {
	p.RequestUnits = estimatedRead
	for _, counts := range []map[string]int64{p.Removed, p.Orphaned} {
		for _, n := range counts {
			p.RequestUnits += float64(n) * estimatedWrite
		}
	}
}

// PlanDelete says beforehand what Delete of that document would do, from
// counts that other writers may change meanwhile. It fails with [ErrNotFound]
// when there is no such document.
func (s *Scope[T]) PlanDelete(ctx context.Context, id string) (*DeletePlan, error) {
	k := call{core: s.repo.core, op: "PlanDelete", at: &s.at, id: id}
	ctx = k.begin(ctx)
	if _, _, err := s.get(ctx, &k); err != nil {
		return nil, k.end(err)
	}
	if hook := k.core.hooks.PlanDelete; hook != nil {
		plan, err := hook(ctx, Deletion{TenantID: s.at.tenant, Key: s.repo.core.given(s.at.values), ID: id})
		return plan, k.end(err)
	}
	return &DeletePlan{Removed: map[string]int64{k.core.entityType: 1}, RequestUnits: estimatedWrite}, k.end(nil)
}

// Restore brings back a document that was deleted softly, with the descendants
// that were deleted with it. It fails with [ErrNotFound] when there is no such
// document or when it is being purged, with [ErrConflict] when it was not
// deleted, and with [ErrDanglingRef] when it belongs to a parent that is gone.
func (s *Scope[T]) Restore(ctx context.Context, id string) error {
	return s.lifecycle(ctx, "Restore", id, s.repo.core.hooks.Restore)
}

// Purge removes a document that was deleted softly before its time, with the
// descendants that were deleted with it. Where a species leaves tombstones for
// the readers of the change feed, these stay for their time, hidden. It fails
// with [ErrNotFound] when there is no such document, or when it was purged
// before, and with [ErrConflict] when it was not deleted or is being restored.
func (s *Scope[T]) Purge(ctx context.Context, id string) error {
	return s.lifecycle(ctx, "Purge", id, s.repo.core.hooks.Purge)
}

func (s *Scope[T]) lifecycle(ctx context.Context, op, id string, hook func(context.Context, Deletion) error) error {
	k := call{core: s.repo.core, op: op, at: &s.at, id: id}
	ctx = k.begin(ctx)
	if err := s.startPoint(ctx, &k); err != nil {
		return k.end(err)
	}
	if hook == nil {
		return k.end(&tenantitem.InvalidError{
			What:   op,
			Reason: fmt.Sprintf("%s is not deleted softly", k.core.entityType),
			Hint:   "register it with registry.SoftDelete, or give parented.Policy a Retain",
		})
	}
	return k.end(hook(ctx, Deletion{TenantID: s.at.tenant, Key: s.repo.core.given(s.at.values), ID: id}))
}

package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// PlanDelete says beforehand what Delete of that document would do, from
// counts that other writers may change meanwhile: how many documents of each entity
// type go (Cascade), stay without a parent (Orphan) and forbid the delete (Restrict). With the plan's Token,
// [ScopeOf.Delete] does no more than that. It fails with [ErrNotFound]
// when there is no such document.
//
//go:noinline
func (s *ScopeOf[P]) PlanDelete(ctx context.Context, id string) (*DeletePlan, error) {
	return s.Reader.scope.PlanDelete(ctx, id)
}

func (s *scope) PlanDelete(ctx context.Context, id string) (*DeletePlan, error) {
	k := engine.Call{Collection: s.c, Op: "PlanDelete", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	if _, _, err := s.get(ctx, &k); err != nil {
		return nil, k.End(err)
	}
	plan := &engine.DeletePlan{Removed: map[string]int64{k.Collection.EntityType(): 1}, RequestUnits: engine.EstimatedWrite}
	if policy := k.Collection.DeletePolicy(); policy != nil {
		var err error
		if plan, err = policy.Plan(ctx, engine.Deletion{TenantID: s.at.Tenant, Key: s.c.Given(s.at.Values), ID: id}); err != nil {
			return nil, k.End(err)
		}
	}
	err := plan.SetToken(k.Collection.EntityType(), s.at.Tenant, id)
	return (*DeletePlan)(plan), k.End(err)
}

// Restore brings back a document that was deleted softly, with the descendants
// that were deleted with it. It fails with [ErrNotFound] when there is no such
// document or when it is being purged, with [ErrConflict] when it was not
// deleted, and with [ErrDanglingRef] when it belongs to a parent that is gone.
//
//go:noinline
func (s *ScopeOf[P]) Restore(ctx context.Context, id string) error {
	return s.Reader.scope.Restore(ctx, id)
}

func (s *scope) Restore(ctx context.Context, id string) error {
	return s.lifecycle(ctx, "Restore", id, engine.DeletePolicy.Restore)
}

// Purge removes a document that was deleted softly before its time, with the
// descendants that were deleted with it. Where an entity type leaves tombstones for
// the readers of the change feed, these stay for their time, hidden. It fails
// with [ErrNotFound] when there is no such document, or when it was purged
// before, and with [ErrConflict] when it was not deleted or is being restored.
//
//go:noinline
func (s *ScopeOf[P]) Purge(ctx context.Context, id string) error {
	return s.Reader.scope.Purge(ctx, id)
}

func (s *scope) Purge(ctx context.Context, id string) error {
	return s.lifecycle(ctx, "Purge", id, engine.DeletePolicy.Purge)
}

func (s *scope) lifecycle(ctx context.Context, op, id string, verb func(engine.DeletePolicy, context.Context, engine.Deletion) error) error {
	k := engine.Call{Collection: s.c, Op: op, At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	s, err := s.startPoint(ctx, &k)
	if err != nil {
		return k.End(err)
	}
	policy := k.Collection.DeletePolicy()
	if policy == nil {
		return k.End(k.Collection.NotSoftlyDeleted(op))
	}
	return k.End(verb(policy, ctx, engine.Deletion{TenantID: s.at.Tenant, Key: s.c.Given(s.at.Values), ID: id}))
}

package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
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
	// Token names what was shown, for [DeleteOptions].Plan: text that can be sent to a
	// person's browser and back. It holds the document's id and the counts, and is
	// not signed: who makes one up confirms what was not shown.
	Token string
}

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
	d := engine.Deletion{TenantID: s.at.Tenant, Key: s.c.Given(s.at.Values), ID: id}
	plan := &engine.DeletePlan{Removed: map[string]int64{k.Collection.EntityType(): 1}, RequestUnits: engine.EstimatedWrite}
	if policy := k.Collection.DeletePolicy(); policy != nil {
		var err error
		if plan, err = policy.Plan(ctx, d); err != nil {
			return nil, k.End(err)
		}
	}
	err := plan.SetToken(k.Collection.EntityType(), d)
	return (*DeletePlan)(plan), k.End(err)
}

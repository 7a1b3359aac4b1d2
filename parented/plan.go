package parented

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// plan says what a delete would do, by the same walk and without a change.
func (f *Forest) plan(ctx context.Context, n *node, d engine.Deletion) (*engine.DeletePlan, error) {
	root, err := n.Outline(ctx, d.TenantID, d.Key, d.ID)
	if err != nil {
		return nil, err
	}
	plan, err := f.planOf(ctx, n, d.TenantID, root)
	if err != nil {
		return nil, err
	}
	plan.Estimate()
	plan.RequestUnits += journalCost(n, plan)
	return plan, nil
}

func (f *Forest) planOf(ctx context.Context, n *node, tenant string, root engine.Document) (*engine.DeletePlan, error) {
	plan := newPlan(n)
	return plan, f.planUnder(ctx, n, tenant, []engine.Document{root}, plan)
}

func newPlan(n *node) *engine.DeletePlan {
	return &engine.DeletePlan{
		Removed:     map[string]int64{n.EntityType(): 1},
		Orphaned:    map[string]int64{},
		Restricting: map[string]int64{},
	}
}

// What a delete costs beyond its documents, in RU, where there may be children: the write that hides the first document
// and a second look at it, a list of each kind of children, a last look when there were any, and each child's
// share of its list. Measured as the emulator charges.
const (
	markCost     = 13
	listCost     = 3
	lastLookCost = 4
	listedCost   = 1.2
)

func journalCost(n *node, plan *engine.DeletePlan) float64 {
	if len(n.children) == 0 {
		return 0
	}
	below := -1.0 // the document itself
	for _, counts := range []map[string]int64{plan.Removed, plan.Orphaned} {
		for _, count := range counts {
			below += float64(count)
		}
	}
	cost := markCost + listCost*float64(len(n.children)) + listedCost*below
	if below > 0 {
		cost += lastLookCost
	}
	return cost
}

func (f *Forest) planUnder(ctx context.Context, n *node, tenant string, parents []engine.Document, plan *engine.DeletePlan) error {
	for _, r := range n.children {
		counts := map[Rule]map[string]int64{Cascade: plan.Removed, Orphan: plan.Orphaned, Restrict: plan.Restricting}[r.rule]
		for group := range parentGroups(r, parents) {
			q := present().And(group.children())
			if r.rule != Cascade || len(r.child.children) == 0 {
				count, err := r.child.Count(ctx, tenant, group.key, q)
				if err != nil {
					return err
				}
				if count > 0 {
					counts[r.child.EntityType()] += count
				}
				continue
			}
			err := f.inChunks(r.child.Documents(ctx, tenant, group.key, q, engine.Outline()), func(outlines []engine.Document) error {
				counts[r.child.EntityType()] += int64(len(outlines))
				return f.planUnder(ctx, r.child, tenant, outlines, plan)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

package parented

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// deleteHook is what deletes of one entity type do in a forest, as the engine calls
// it (engine.DeletePolicy). The rules to choose from are in rule.go; delete.go carries them out.
type deleteHook struct {
	forest *Forest
	node   *node
}

// applyRules makes deletes of an entity type follow the rules. One without
// children and policy keeps its plain delete, which also a batch can hold. The
// caller holds f.mu.
func (f *Forest) applyRules(n *node) error { return n.SetDeletePolicy(deleteHook{f, n}) }

// Owner names the forest by what it holds, since a program may have several.
func (p deleteHook) Owner() string {
	var names []string
	for _, n := range p.forest.nodes {
		names = append(names, n.EntityType())
	}
	return fmt.Sprintf("a parented.Forest of [%s]", strings.Join(names, ", "))
}

// Plan counts what would go.
func (p deleteHook) Plan(ctx context.Context, d engine.Deletion) (*engine.DeletePlan, error) {
	return p.forest.plan(ctx, p.node, d)
}

// Begin hides the document within a batch.
func (p deleteHook) Begin(d engine.Deletion) (engine.BatchDeletion, error) {
	return p.forest.batchDelete(p.node, d)
}

// CarryOut deletes the document and its descendants.
func (p deleteHook) CarryOut(ctx context.Context, d engine.Deletion) error {
	return p.forest.delete(ctx, p.node, d)
}

// Finish ends what was under way of a document when it was read.
func (p deleteHook) Finish(ctx context.Context, tenant string, begun engine.Document) error {
	_, err := p.forest.finish(ctx, p.node, tenant, begun)
	if errors.Is(err, repository.ErrHasChildren) || errors.Is(err, repository.ErrDanglingRef) || isPlanChanged(err) {
		return nil // it was refused, and has ended with that
	}
	return err
}

// Restore brings back what was deleted softly.
func (p deleteHook) Restore(ctx context.Context, d engine.Deletion) error {
	if p.node.policy.Retain == 0 {
		return p.node.NotSoftlyDeleted("Restore")
	}
	return p.forest.restore(ctx, p.node, d)
}

// Purge removes what was deleted softly.
func (p deleteHook) Purge(ctx context.Context, d engine.Deletion) error {
	if p.node.policy.Retain == 0 {
		return p.node.NotSoftlyDeleted("Purge")
	}
	return p.forest.purge(ctx, p.node, d)
}

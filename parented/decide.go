package parented

import (
	"context"
	"errors"
	"slices"

	"github.com/cosmosgrove/grove/repository"
)

// restricts reports whether a delete of such a document can be forbidden by
// something below it.
func (n *node) restricts() bool {
	return slices.ContainsFunc(n.children, func(r *relation) bool {
		return r.rule == Restrict || r.rule == Cascade && r.child.restricts()
	})
}

// decide finds out whether a marked document may go. It closes the documents
// on the way to every restricting species and counts there. A refusal takes
// all marks back.
func (f *Forest) decide(ctx context.Context, n *node, tenant string, root repository.Stub) (repository.Stub, error) {
	counts := map[string]int64{}
	look := func(ctx context.Context, below *node, stubs []repository.Stub) ([]repository.Stub, error) {
		return f.markParts(ctx, below, stubs, root.DeletedAt)
	}
	if err := f.explore(ctx, n, tenant, []repository.Stub{root}, counts, look); err != nil {
		return root, err
	}
	if len(counts) > 0 {
		if err := f.takeBack(ctx, n, tenant, root); err != nil {
			return root, err
		}
		return root, &ChildrenError{Counts: counts}
	}
	for stalls := 0; ; stalls++ {
		done, err := n.Edit(ctx, []repository.Stub{root}, func(s repository.Stub) repository.Stub { return inPhase(s, phaseRemoving) })
		if len(done) == 1 {
			return done[0], nil
		}
		if err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return root, err
		}
		again, err := n.Stub(ctx, tenant, f.given(n, root), root.ID)
		if err != nil {
			return root, err
		}
		switch {
		case underWay(again, phaseRemoving):
			return again, nil // another process decided the same
		case !underWay(again, phaseDeciding):
			return root, repository.ErrPreconditionFailed
		}
		root = again
		if err := f.tryAgain(ctx, stalls); err != nil {
			return root, err
		}
	}
}

// countRestricting counts what forbids a delete, without closing anything.
func (f *Forest) countRestricting(ctx context.Context, n *node, tenant string, parents []repository.Stub, counts map[string]int64) error {
	asIs := func(_ context.Context, _ *node, stubs []repository.Stub) ([]repository.Stub, error) {
		return stubs, nil
	}
	return f.explore(ctx, n, tenant, parents, counts, asIs)
}

// explore goes down to all restricting species and adds up what is there.
// visit sees the documents on the way, before their children are looked at.
func (f *Forest) explore(ctx context.Context, n *node, tenant string, parents []repository.Stub, counts map[string]int64, visit func(context.Context, *node, []repository.Stub) ([]repository.Stub, error)) error {
	for _, r := range n.children {
		if r.rule != Restrict && (r.rule != Cascade || !r.child.restricts()) {
			continue
		}
		for key, ids := range families(r.child, parents) {
			q := present().And(repository.In(parentField, ids...))
			if r.rule == Restrict {
				count, err := r.child.Count(ctx, tenant, key, q)
				if err != nil {
					return err
				}
				if count > 0 {
					counts[r.child.EntityType()] += count
				}
				continue
			}
			err := f.inChunks(r.child.Stubs(ctx, tenant, key, q), func(stubs []repository.Stub) error {
				seen, err := visit(ctx, r.child, stubs)
				if err != nil {
					return err
				}
				if len(seen) < len(stubs) {
					return repository.ErrPreconditionFailed // changed meanwhile; the delete can be repeated
				}
				return f.explore(ctx, r.child, tenant, seen, counts, visit)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// takeBack opens everything again that decide closed; the root comes last, so
// that a process that dies here leaves a delete that can be decided again.
func (f *Forest) takeBack(ctx context.Context, n *node, tenant string, root repository.Stub) error {
	open := func(ctx context.Context, below *node, stubs []repository.Stub) (int, error) {
		done, err := below.Edit(ctx, stubs, unmarked)
		return len(done), err
	}
	p := &pass{
		forest: f, tenant: tenant, skip: Restrict,
		which: repository.SQL("c.deletedAt = @d AND c."+repository.JournalField+".phase = @phase", repository.P("d", root.DeletedAt), repository.P("phase", phasePart)),
		leave: func(ctx context.Context, r *relation, stubs []repository.Stub) (int, error) {
			return open(ctx, r.child, stubs)
		},
	}
	if err := p.under(ctx, n, []repository.Stub{root}); err != nil {
		return err
	}
	return f.last(ctx, n, tenant, root, open)
}

package parented

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/repository"
)

// What a delete leaves in a document until it is finished; see Journal. The
// document's ttl is set to -1 meanwhile, so that it can't expire with its
// journal, and tells a delete under way from what a finished one left.
const (
	// phaseDeciding: below the document it is being found out whether Restrict
	// forbids the delete. It may still be taken back.
	phaseDeciding = "deciding"
	// phaseRemoving: the delete is going to be finished.
	phaseRemoving = "removing"
	// phasePurging: as removing, of a document that was deleted softly.
	phasePurging = "purging"
	// phaseRestoring: descendants are being brought back.
	phaseRestoring = "restoring"
	// phasePart: the document goes with one above it.
	phasePart = "part"
	// phaseRetained: deleted softly; the journal only keeps the former ttl.
	phaseRetained = "retained"

	neverExpires = -1
)

// present finds the documents that are not deleted, or not yet finished.
func present() repository.Query {
	return repository.SQL("NOT IS_DEFINED(c.deletedAt) OR c.ttl = -1")
}

// pass visits all descendants of some documents, children before their parent,
// so that at any moment whatever is left can be reached from above.
type pass struct {
	forest *Forest
	tenant string
	// which children are to be visited. Visiting must take them out of it: a
	// level is done when the query finds nothing.
	which repository.Query
	// enter prepares documents that may have children. It may leave some out,
	// which changed meanwhile and will be found again.
	enter func(context.Context, *node, []repository.Stub) ([]repository.Stub, error)
	// leave visits documents and returns how many it got hold of.
	leave func(context.Context, *relation, []repository.Stub) (int, error)
	// skip leaves out relations of that rule; 0 is none.
	skip Rule
}

// under visits the descendants of documents of one species.
func (p *pass) under(ctx context.Context, n *node, parents []repository.Stub) error {
	for _, r := range n.children {
		if r.rule == p.skip {
			continue
		}
		for key, ids := range families(r.child, parents) {
			if err := p.level(ctx, r, key, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// level visits the children of one species until none is found.
func (p *pass) level(ctx context.Context, r *relation, key []any, ids []any) error {
	q := p.which.And(repository.In(parentField, ids...)).Limit(p.forest.cfg.PageSize)
	for stalls := 0; ; {
		stubs, err := collect(r.child.Stubs(ctx, p.tenant, key, q))
		if err != nil || len(stubs) == 0 {
			return err
		}
		n, err := p.visit(ctx, r, stubs)
		switch {
		case errors.Is(err, repository.ErrAmbiguous):
			n = 0 // the next look tells
		case err != nil:
			return err
		}
		if n > 0 {
			stalls = 0
			continue
		}
		if stalls++; stalls > maxStalls {
			return fmt.Errorf("%w: other writers keep changing the %d %s documents in hand (repeat the delete; it goes on where it stopped)", repository.ErrPreconditionFailed, len(stubs), r.child.EntityType())
		}
		if err := pause(ctx, stalls); err != nil {
			return err
		}
	}
}

func (p *pass) visit(ctx context.Context, r *relation, stubs []repository.Stub) (int, error) {
	if r.rule != Orphan && len(r.child.children) > 0 {
		if p.enter != nil {
			var err error
			if stubs, err = p.enter(ctx, r.child, stubs); err != nil {
				return 0, err
			}
		}
		if err := p.under(ctx, r.child, stubs); err != nil {
			return 0, err
		}
	}
	return p.leave(ctx, r, stubs)
}

// Two deletes of one tree get in each other's way; each of them makes progress
// when the other doesn't, so waiting a little is enough.
const (
	maxStalls    = 60
	longestPause = 200 * time.Millisecond
)

func pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(rand.N(min(time.Millisecond<<min(attempt, 10), longestPause)) + time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// maxFamily is how many parents one query names.
const maxFamily = 100

// families groups parents for queries over their children, with the key values
// that are known of them: a hundred parents together, or each alone where the
// parent's id is part of the children's key.
func families(child *node, parents []repository.Stub) iter.Seq2[[]any, []any] {
	paths := child.KeyPaths()
	alone := slices.Contains(paths, "/"+parentField) && firstOwnLevel(paths) == "/"+parentField
	return func(yield func(key, ids []any) bool) {
		size := maxFamily
		if alone {
			size = 1
		}
		for chunk := range slices.Chunk(parents, size) {
			ids := make([]any, len(chunk))
			for i, parent := range chunk {
				ids[i] = parent.ID
			}
			var key []any
			if alone {
				key = ids
			}
			if !yield(key, ids) {
				return
			}
		}
	}
}

func firstOwnLevel(paths []string) string {
	for i, path := range paths {
		if i > 0 && path != "/entityType" {
			return path
		}
	}
	return ""
}

func collect(stubs iter.Seq2[repository.Stub, error]) ([]repository.Stub, error) {
	var out []repository.Stub
	for stub, err := range stubs {
		if err != nil {
			return nil, err
		}
		out = append(out, stub)
	}
	return out, nil
}

// inChunks collects outlines to pages, so that each takes few requests.
func (f *Forest) inChunks(stubs iter.Seq2[repository.Stub, error], visit func([]repository.Stub) error) error {
	var chunk []repository.Stub
	for stub, err := range stubs {
		if err != nil {
			return err
		}
		if chunk = append(chunk, stub); len(chunk) == f.cfg.PageSize {
			if err := visit(chunk); err != nil {
				return err
			}
			chunk = nil
		}
	}
	if len(chunk) == 0 {
		return nil
	}
	return visit(chunk)
}

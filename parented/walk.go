package parented

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// walk visits all descendants of some documents, children before their parent,
// so that at any moment whatever is left can be reached from above.
type walk struct {
	forest *Forest
	tenant string
	// which children are to be visited. Visiting must take them out of it: a
	// level is done when the query finds nothing.
	which engine.Query
	// beforeChildren prepares documents that may have children. It may leave some out,
	// which changed meanwhile and will be found again.
	beforeChildren func(context.Context, *node, []engine.Document) ([]engine.Document, error)
	// afterChildren visits documents and returns how many it got hold of.
	afterChildren func(context.Context, *relation, []engine.Document) (int, error)
	// removes says that the walk takes documents away for good.
	removes bool
	// purges says that these were deleted softly before.
	purges bool
	// decided says that nothing was there that restricts the delete when it was
	// looked for. Whatever is found since came too late, and stays.
	decided bool
	// run is the id of the delete that was decided.
	run string
	// confirmed says that all there was when the delete was decided is hidden. What is not
	// came too late, and its writer is about to take it away.
	confirmed bool
}

// lateError are children that restrict a delete, and which came after it was
// decided that there are none. Their writers are about to see that, and to
// take them away again.
type lateError struct{ counts map[string]int64 }

func (e *lateError) Error() string { return (&ChildrenError{Counts: e.counts}).Error() }

// descend visits the descendants of documents of one entity type.
func (w *walk) descend(ctx context.Context, n *node, parents []engine.Document) error {
	for _, r := range n.children {
		for group := range parentGroups(r, parents) {
			if err := w.visitChildren(ctx, r, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// visitChildren visits the children of one entity type until none is found. The last
// query is no formality: it is sent with the session token of what was written to
// the children before it, so that it sees everything that was committed there until
// then. What an earlier query lacked, because its replica was behind or because it
// was written since by a process that has died, is found by this one.
func (w *walk) visitChildren(ctx context.Context, r *relation, group parentGroup) error {
	q := w.childrenQuery(r, group)
	for attempts := 0; ; {
		outlines, err := collect(r.child.Documents(ctx, w.tenant, group.key, q, engine.Outline()))
		if err != nil || len(outlines) == 0 {
			return err
		}
		if w.removes {
			// What was found belongs to the deleted parents only if they were
			// still there afterwards: another process may have finished the
			// delete, and the ids may be those of new documents.
			still, err := w.forest.stillHidden(ctx, r.parent, w.tenant, group.parents)
			if err != nil || len(still) == 0 {
				return err
			}
			if len(still) < len(group.parents) {
				group = group.with(still)
				q = w.childrenQuery(r, group)
				continue
			}
		}
		n, err := w.visitFound(ctx, r, group, outlines, attempts < maxWaits)
		var late *lateError
		var stopped *stoppedError
		switch {
		case errors.As(err, &stopped):
			return err
		case errors.As(err, &late):
			if n = 0; attempts >= maxWaits {
				return &stoppedError{ChildrenError{Counts: late.counts}}
			}
		case errors.Is(err, repository.ErrAmbiguous):
			n = 0 // the next look tells
		case err != nil:
			return err
		}
		if n > 0 {
			attempts = 0
			continue
		}
		if attempts++; attempts > maxAttempts {
			return fmt.Errorf("%w: other writers keep changing the %d %s documents in hand (repeat the delete; it goes on where it stopped)", repository.ErrPreconditionFailed, len(outlines), r.child.EntityType())
		}
		if err := pause(ctx, attempts); err != nil {
			return err
		}
	}
}

// visitFound visits those of some children that belong to the delete, and ends the moves of the others. It returns how many it got hold of. While it may
// wait, it leaves alone what came late: the writer of that is about to take it away.
func (w *walk) visitFound(ctx context.Context, r *relation, group parentGroup, outlines []engine.Document, mayWait bool) (n int, err error) {
	if w.removes {
		if outlines, n, err = w.forest.finishMoves(ctx, r, w.tenant, group, outlines); err != nil || len(outlines) == 0 {
			return n, err
		}
	}
	if w.decided && (r.restricts() || w.confirmed && r.rule == Cascade) {
		if outlines, n, err = w.sendBack(ctx, r, outlines); err != nil || len(outlines) == 0 {
			return n, err
		}
	}
	if w.confirmed && r.rule == Cascade {
		inTime := withoutLate(outlines)
		switch {
		case len(inTime) > 0:
			outlines = inTime
		case mayWait:
			return 0, nil
		}
	}
	return w.visit(ctx, r, outlines)
}

// childrenQuery finds the documents of one level that are to be visited.
func (w *walk) childrenQuery(r *relation, group parentGroup) engine.Query {
	if w.removes {
		q := group.childrenAndMoving(w.which, r)
		if w.purges && r.restricts() {
			q = q.AndSQL(`IS_DEFINED(c["deletedAt"])`) // one that is there was never a part of what is purged
		}
		return q.Limit(w.forest.cfg.PageSize)
	}
	return w.which.And(group.children()).Limit(w.forest.cfg.PageSize)
}

// sendBack ends the moves of children that came after the delete was decided: they go back to where they were, though their mover is held up or dead. It
// returns those that are still here, and how many it sent away.
func (w *walk) sendBack(ctx context.Context, r *relation, outlines []engine.Document) (left []engine.Document, sent int, err error) {
	for _, s := range outlines {
		if s.DeletedAt != "" || s.Moving == "" {
			left = append(left, s)
			continue
		}
		if _, err := w.forest.finishMove(ctx, r.child, w.tenant, s); err != nil {
			return nil, sent, err
		}
		sent++
	}
	return left, sent, nil
}

// withoutLate leaves out what came after all was hidden.
func withoutLate(outlines []engine.Document) []engine.Document {
	return slices.DeleteFunc(slices.Clone(outlines), func(s engine.Document) bool { return s.DeletedAt == "" })
}

// visit returns how many documents it got hold of.
func (w *walk) visit(ctx context.Context, r *relation, outlines []engine.Document) (int, error) {
	if w.decided && r.rule == Restrict {
		return w.visitLate(ctx, r, outlines)
	}
	ended := 0
	if w.removes && r.rule != Orphan {
		var err error
		if outlines, ended, err = w.forest.endOverlapping(ctx, r.child, w.tenant, outlines); err != nil || len(outlines) == 0 {
			return ended, err
		}
	}
	if r.rule != Orphan && len(r.child.children) > 0 {
		if w.beforeChildren != nil {
			var err error
			if outlines, err = w.beforeChildren(ctx, r.child, outlines); err != nil {
				return 0, err
			}
		}
		if err := w.descend(ctx, r.child, outlines); err != nil {
			return 0, err
		}
	}
	n, err := w.afterChildren(ctx, r, outlines)
	return n + ended, err
}

// visitLate visits children under Restrict that came after the decision. Those that their writers have hidden
// with this very delete go with it; the others keep it from its end.
func (w *walk) visitLate(ctx context.Context, r *relation, outlines []engine.Document) (int, error) {
	var given []engine.Document
	for _, s := range outlines {
		if w.run != "" && runOf(s) == w.run && underWay(s, phaseDescendant) {
			given = append(given, s)
		}
	}
	if len(given) == 0 {
		return 0, &lateError{map[string]int64{r.child.EntityType(): int64(len(outlines))}}
	}
	if len(r.child.children) > 0 {
		if err := w.descend(ctx, r.child, given); err != nil {
			return 0, err
		}
	}
	return w.afterChildren(ctx, r, given)
}

func collect(outlines iter.Seq2[engine.Document, error]) ([]engine.Document, error) {
	var out []engine.Document
	for outline, err := range outlines {
		if err != nil {
			return nil, err
		}
		out = append(out, outline)
	}
	return out, nil
}

// inChunks collects outlines to pages, so that each takes few requests.
func (f *Forest) inChunks(outlines iter.Seq2[engine.Document, error], visit func([]engine.Document) error) error {
	var chunk []engine.Document
	for outline, err := range outlines {
		if err != nil {
			return err
		}
		if chunk = append(chunk, outline); len(chunk) == f.cfg.PageSize {
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

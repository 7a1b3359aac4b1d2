package parented

import (
	"context"
	"errors"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// A child is moving until its new parent was seen alive with the
// child under it. Should the new parent be on its way out, the child goes back,
// and the former parent must not have been deleted without it. The write that
// moves it therefore names the former parent in a member of its own. A delete of
// either parent finds the child and ends the move before it counts or takes
// children away, by the same look at the new parent; so does Resume where the
// mover died.
//
// Where children go with their parent for good, whatever is below them, nothing
// is lost with a child that comes back too late, and that member is spared.

// tracksMoves reports whether a child names its former parent while it moves: Restrict keeps it or
// something below it, or what is above it can be restored with it.
func (r *relation) tracksMoves() bool {
	return (r.restricts() || r.rule == Cascade && r.parent.restorable()) && !slices.Contains(r.child.GivenFields(), parentField)
}

// finishMoves ends the moves of those documents that are on their way to parents outside
// the group. It returns the group's children, those that came back among them, and how many moves it ended.
func (f *Forest) finishMoves(ctx context.Context, r *relation, tenant string, group parentGroup, outlines []engine.Document) (children []engine.Document, finished int, err error) {
	if !r.tracksMoves() {
		return outlines, 0, nil
	}
	has := group.membership()
	for _, s := range outlines {
		if !has(s) {
			finished++
			if s, err = f.finishMove(ctx, r.child, tenant, s); err != nil {
				return nil, finished, err
			}
			if s.ID == "" || !has(s) {
				continue
			}
		}
		children = append(children, s)
	}
	return children, finished, nil
}

// finishMove ends the move of a child, of this process or another: the child stays if its new parent is
// there, and else goes back. It returns the child as it is then, without an id if it is gone.
func (f *Forest) finishMove(ctx context.Context, n *node, tenant string, child engine.Document) (engine.Document, error) {
	child, _, err := f.endMove(ctx, n, tenant, child)
	return child, err
}

// endMove is finishMove that reports whether this call ended the move; false where another process had.
func (f *Forest) endMove(ctx context.Context, n *node, tenant string, child engine.Document) (now engine.Document, ended bool, err error) {
	for attempts := 0; child.Moving != ""; attempts++ {
		err := f.parentAlive(ctx, n, tenant, child)
		if err != nil && !errors.Is(err, repository.ErrDanglingRef) {
			return child, false, err
		}
		// A delete that has hidden the child has taken it where it is.
		edit := arrived
		if err != nil && child.DeletedAt == "" {
			edit = n.parent.wentBack
		}
		done, err := n.Edit(ctx, []engine.Document{child}, edit)
		if len(done) == 1 {
			return done[0], true, nil
		}
		if err != nil && !errors.Is(err, repository.ErrAmbiguous) {
			return child, false, err
		}
		child, err = n.Outline(ctx, tenant, f.given(n, child), child.ID)
		if errors.Is(err, repository.ErrNotFound) {
			return engine.Document{}, false, nil
		}
		if err != nil {
			return child, false, err
		}
		if err := f.nextAttempt(ctx, attempts); err != nil {
			return child, false, err
		}
	}
	return child, false, nil
}

// outlineAfterMove reads the outline of a child whose parent is to be looked at. It ends a move that
// the child is in: should that come to nothing, the child is back with a parent whose delete
// may have passed it by.
func (f *Forest) outlineAfterMove(ctx context.Context, n *node, tenant string, key []any, id string) (engine.Document, error) {
	child, err := n.Outline(ctx, tenant, key, id)
	if err != nil || child.Moving == "" || child.DeletedAt != "" {
		return child, err
	}
	child, err = f.finishMove(ctx, n, tenant, child)
	if err == nil && child.ID == "" {
		err = repository.ErrNotFound
	}
	return child, err
}

// arrived is a child that stays with its new parent.
func arrived(s engine.Document) engine.Document {
	s.Moving = ""
	return s
}

// wentBack is a child that is with its former parent again.
func (r *relation) wentBack(s engine.Document) engine.Document {
	s = r.setParent(s, r.parentOfMark(s.Moving))
	s.Moving = ""
	return s
}

package parented

import (
	"context"
	"errors"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// stillHidden returns those of the parents that are in the same phase of the
// same run as when their outlines were read. A restore of the very run is
// another phase: what it has unhidden must not be hidden again.
func (f *Forest) stillHidden(ctx context.Context, n *node, tenant string, parents []engine.Document) ([]engine.Document, error) {
	now := make(map[string]engine.Document, len(parents))
	if len(parents) == 1 {
		s, err := n.Outline(ctx, tenant, f.given(n, parents[0]), parents[0].ID)
		if err != nil && !errors.Is(err, repository.ErrNotFound) {
			return nil, err
		}
		now[documentText(s)] = s
	} else {
		ids := make([]any, len(parents))
		for i, parent := range parents {
			ids[i] = parent.ID
		}
		for s, err := range n.Documents(ctx, tenant, nil, engine.Where(engine.In("id", ids...)), engine.Outline()) {
			if err != nil {
				return nil, err
			}
			now[documentText(s)] = s
		}
	}
	var still []engine.Document
	for _, parent := range parents {
		if s := now[documentText(parent)]; s.DeletedAt != "" && sameRun(s, parent) && phaseOf(s) == phaseOf(parent) {
			still = append(still, parent)
		}
	}
	return still, nil
}

// documentText is the same for one document only.
func documentText(s engine.Document) string { return engine.KeyText(append([]any{s.ID}, s.Key...)) }

// endOverlapping finishes the deletes, purges and restores that others have begun
// with some of the documents, so that each ends as its own caller was told: a
// child that was deleted for good must not be kept with a parent that is
// deleted softly, and a refusal below must not unhide what a delete above relies
// on. It returns the other documents, and how many it finished; those that are
// there still will be found again.
func (f *Forest) endOverlapping(ctx context.Context, n *node, tenant string, outlines []engine.Document) (others []engine.Document, ended int, err error) {
	for _, s := range outlines {
		if !begun(s) {
			others = append(others, s)
			continue
		}
		switch did, err := f.finish(ctx, n, tenant, s); {
		case err == nil && !did: // by another process, of which the list did not tell
		case errors.Is(err, repository.ErrNotFound), errors.Is(err, repository.ErrPreconditionFailed), errors.Is(err, repository.ErrAmbiguous):
		case err == nil, isPlanChanged(err), errors.Is(err, repository.ErrHasChildren), errors.Is(err, repository.ErrDanglingRef):
			ended++
		default:
			return nil, ended, err
		}
	}
	return others, ended, nil
}

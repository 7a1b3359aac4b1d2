package parented

import (
	"context"
	"errors"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// batchDelete begins a delete with the write that hides the document anyway, so
// that a transaction can hold it, and finishes it afterwards. What may still be
// forbidden, or rolled back, can't begin before it is decided.
func (f *Forest) batchDelete(n *node, d engine.Deletion) (engine.BatchDeletion, error) {
	switch {
	case n.restricts():
		return engine.BatchDeletion{}, &tenantitem.InvalidError{What: "batch", Reason: n.EntityType() + " has children that may forbid its delete", Hint: "use the scope's Delete"}
	case n.policy.Retain > 0:
		return engine.BatchDeletion{}, &tenantitem.InvalidError{What: "batch", Reason: n.EntityType() + " is deleted softly", Hint: "use the scope's Delete"}
	case len(n.children) == 0:
		return engine.BatchDeletion{Mark: engine.Document{DeletedAt: f.now(), TTL: seconds(n.policy.Tombstone)}}, nil
	}
	run, err := newRun()
	if err != nil {
		return engine.BatchDeletion{}, err
	}
	return engine.BatchDeletion{
		Mark: hidden(engine.Document{}, f.now(), run, phaseRemoving),
		Finish: func(ctx context.Context) error {
			if did, err := f.finishRun(ctx, n, d, run); did || err != nil {
				return err
			}
			// Another process took it up and was faster, or an Upsert or an import has put an end to it. What was created since can't be
			// told from an import, which brings the mark of the former create: the batch has not read that.
			now, err := n.Outline(ctx, d.TenantID, d.Key, d.ID)
			switch {
			case errors.Is(err, repository.ErrNotFound):
				return nil
			case err == nil && now.DeletedAt == "":
				return errWrittenOver
			}
			return err
		},
	}, nil
}

package parented

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// rollBack brings everything back that a delete hid; the root comes last,
// so that a process that dies here leaves a delete that is still refused.
func (f *Forest) rollBack(ctx context.Context, n *node, tenant string, root engine.Document) error {
	ctx = n.sinceLastRun(ctx, root)
	if err := f.unhideBelow(ctx, n, tenant, root, phaseDescendant); err != nil {
		return err
	}
	return f.last(ctx, n, tenant, root, unhideRefusedRoot)
}

// unhideRefusedRoot is unhide for the document that a refused delete began with, which
// keeps why it was refused.
func unhideRefusedRoot(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	done, err := n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
		why := s.Journal.Refused
		s = unhidden(s)
		s.Journal.Refused = why
		return s
	})
	return len(done), err
}

// unhideBelow brings back what one run left in some phases below its root.
func (f *Forest) unhideBelow(ctx context.Context, n *node, tenant string, root engine.Document, phases ...any) error {
	w := &walk{
		forest: f, tenant: tenant,
		which: engine.SQL("("+ofRun(root)+") AND ARRAY_CONTAINS(@phases, "+memberSQL(engine.JournalField+".phase")+")", engine.P("run", runOf(root)), engine.P("phases", phases)),
		afterChildren: func(ctx context.Context, r *relation, outlines []engine.Document) (int, error) {
			return unhide(ctx, r.child, outlines)
		},
	}
	return w.descend(ctx, n, []engine.Document{root})
}

// unhide brings documents back, and leaves in them the run that was rolled back.
func unhide(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	done, err := n.Edit(ctx, outlines, unhidden)
	return len(done), err
}

// unhideLate brings back what a process hid that was late with its part of a run
// which others have finished and rolled back. It looks below visible documents too.
func (f *Forest) unhideLate(ctx context.Context, n *node, tenant string, parents []engine.Document, run string) error {
	for _, r := range n.children {
		if r.rule != Cascade {
			continue
		}
		for group := range parentGroups(r, parents) {
			q := engine.All().And(group.children())
			err := f.inChunks(r.child.Documents(ctx, tenant, group.key, q, engine.Outline()), func(outlines []engine.Document) error {
				var late []engine.Document
				for _, s := range outlines {
					if s.DeletedAt != "" && runOf(s) == run && (phaseOf(s) == phaseDescendant || phaseOf(s) == phaseRetained) {
						late = append(late, s)
					}
				}
				// Who changes one of them meanwhile is the restore itself.
				if _, err := unhide(ctx, r.child, late); err != nil {
					return err
				}
				return f.unhideLate(ctx, r.child, tenant, outlines, run)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// unhideRoot is unhide for the document that a delete began with: it keeps the sessions.
func unhideRoot(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	sessions := n.sessions()
	done, err := n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
		s = unhidden(s)
		s.Journal.Sessions = sessions
		return s
	})
	return len(done), err
}

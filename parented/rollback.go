package parented

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// takeBack opens everything again that a delete closed; the root comes last,
// so that a process that dies here leaves a delete that is still refused.
func (f *Forest) takeBack(ctx context.Context, n *node, tenant string, root engine.Document) error {
	ctx = n.sinceLastRun(ctx, root)
	if err := f.openBelow(ctx, n, tenant, root, phasePart); err != nil {
		return err
	}
	return f.last(ctx, n, tenant, root, refusedRoot)
}

// refusedRoot is opened for the document that a delete began with, which keeps
// why it was refused.
func refusedRoot(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	done, err := n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
		why := s.Deletion.Refused
		s = unmarked(s)
		s.Deletion.Refused = why
		return s
	})
	return len(done), err
}

// openBelow brings back what one run left in some phases below its root.
func (f *Forest) openBelow(ctx context.Context, n *node, tenant string, root engine.Document, phases ...any) error {
	p := &pass{
		forest: f, tenant: tenant,
		which: engine.SQL("("+ofRun(root)+") AND ARRAY_CONTAINS(@phases, "+memberSQL(engine.JournalField+".phase")+")", engine.P("run", runOf(root)), engine.P("phases", phases)),
		leave: func(ctx context.Context, r *relation, outlines []engine.Document) (int, error) {
			return opened(ctx, r.child, outlines)
		},
	}
	return p.under(ctx, n, []engine.Document{root})
}

// opened takes the deletes of documents back.
func opened(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	done, err := n.Edit(ctx, outlines, unmarked)
	return len(done), err
}

// openLate brings back what a process hid that was late with its part of a run
// which others have finished and taken back. It looks below open documents too.
func (f *Forest) openLate(ctx context.Context, n *node, tenant string, parents []engine.Document, run string) error {
	for _, r := range n.children {
		if r.rule != Cascade {
			continue
		}
		for fam := range families(r, parents) {
			q := engine.All().And(fam.children())
			err := f.inChunks(r.child.Documents(ctx, tenant, fam.key, q, engine.Outline()), func(outlines []engine.Document) error {
				var late []engine.Document
				for _, s := range outlines {
					if s.DeletedAt != "" && runOf(s) == run && (phaseOf(s) == phasePart || phaseOf(s) == phaseRetained) {
						late = append(late, s)
					}
				}
				// Who changes one of them meanwhile is the restore itself.
				if _, err := opened(ctx, r.child, late); err != nil {
					return err
				}
				return f.openLate(ctx, r.child, tenant, outlines, run)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// openedRoot takes back the delete of the document that it began with.
func openedRoot(ctx context.Context, n *node, outlines []engine.Document) (int, error) {
	sessions := n.sessions()
	done, err := n.Edit(ctx, outlines, func(s engine.Document) engine.Document {
		s = unmarked(s)
		s.Deletion.Sessions = sessions
		return s
	})
	return len(done), err
}

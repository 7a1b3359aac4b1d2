package parented_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A replica that is behind lists what another process has ended by then. Resume finds that out, and does not count it as its own work.
func TestResumeCountsWhatItCarriedOut(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds replicas back")
	for name, do := range map[string]func(ctx context.Context, g grove, note *Note, c *Comment) error{
		"delete": func(ctx context.Context, g grove, note *Note, _ *Comment) error {
			return g.notes.In("acme").Delete(ctx, note.ID, nil)
		},
		"restore": func(ctx context.Context, g grove, note *Note, _ *Comment) error {
			if err := g.notes.In("acme").Delete(ctx, note.ID, nil); err != nil {
				return err
			}
			return g.notes.In("acme").Restore(ctx, note.ID)
		},
		"move": func(ctx context.Context, g grove, _ *Note, c *Comment) error {
			to := &Note{Title: "to"}
			if err := g.notes.In("acme").Create(ctx, to); err != nil {
				return err
			}
			return g.comments.Move(ctx, "acme", c.ID, tenantitem.Ref[Note](to.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			account := processes(t)
			p := planting{client: account.Client(nil), note: parented.Policy{Retain: time.Hour}}
			g := plant(t, p)
			note := g.tree(t, "acme", 1, 0)
			c, err := g.comments.Under(note).First(ctx, repository.All())
			must(t, err)
			must(t, do(ctx, g, note, c))

			// Another process, which has seen nothing: its lists lack the last write, which ended the verb.
			behind := account.Fault(emulator.Behind(1).On(emulator.QueryItems).Times(6))
			p.client = account.Client(nil)
			resumed, err := open(t, g.database, p).forest.Resume(ctx, "acme")
			must(t, err)
			if behind.Fired() == 0 || resumed != (parented.Resumed{}) {
				t.Fatalf("resumed %+v, though nothing was left to do (%d reads behind)", resumed, behind.Fired())
			}
		})
	}
}

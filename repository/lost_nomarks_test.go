package repository_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// A write took effect and its answer was lost. Where a mark would say so and
// none is kept, the error is ErrAmbiguous, never a definite failure.
func TestLostAnswersWithoutMarks(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(ctx context.Context, s *repository.Scope[Note], n *Note) error{
		"Create": func(ctx context.Context, s *repository.Scope[Note], _ *Note) error {
			return s.Create(ctx, &Note{Title: "new"})
		},
		"Upsert": func(ctx context.Context, s *repository.Scope[Note], n *Note) error {
			fresh := &Note{Title: "put"}
			fresh.ID = n.ID
			return s.Upsert(ctx, fresh)
		},
		"Patch": func(ctx context.Context, s *repository.Scope[Note], n *Note) error {
			_, err := s.Patch(ctx, n.ID, repository.Increment("/count", 1))
			return err
		},
		"Replace": func(ctx context.Context, s *repository.Scope[Note], n *Note) error { return s.Replace(ctx, n) },
	} {
		for how, l := range map[string]*layout.Layout{"with marks": {}, "without marks": {NoMarks: true}} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				e := emulatortest.New(t, emulatortest.Calm(), emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				container := newContainer(t, e.Client(nil), "/tenantId", "/entityType")
				acme := newRepository(t, container, repository.Config{Layout: l}).In("acme")
				n := &Note{Title: "before"}
				must(t, acme.Create(t.Context(), n))
				e.Fault(emulator.Cut().AfterEffect().On(emulator.CreateItem, emulator.UpsertItem, emulator.PatchItem, emulator.ReplaceItem))
				err := do(t.Context(), acme, n)
				if l.NoMarks != errors.Is(err, repository.ErrAmbiguous) || !l.NoMarks && err != nil {
					t.Errorf("it ended with %v", err)
				}
			})
		}
	}
}

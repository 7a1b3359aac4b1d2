package parented_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Two processes carry out one delete. The second one meets what forbids it, takes the delete back, and what it met goes. The
// first one, which saw nothing, is told that the delete was refused: before it could write its decision, or when that came second.
func TestARefusalByAnotherProcessIsDefinite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		vote    parented.Rule
		planned bool
		meet    func(t *testing.T, g grove, c *Comment) // what forbids the delete
		want    error
	}{
		"of what Restrict keeps": {vote: parented.Restrict, want: repository.ErrHasChildren, meet: func(t *testing.T, g grove, c *Comment) {
			g.stray(t, "Vote", "late", "Comment", c.ID)
		}},
		"of what Restrict keeps, with a plan": {vote: parented.Restrict, planned: true, want: repository.ErrHasChildren, meet: func(t *testing.T, g grove, c *Comment) {
			g.stray(t, "Vote", "late", "Comment", c.ID)
		}},
		"of what a plan did not show": {vote: parented.Cascade, planned: true, want: repository.ErrPreconditionFailed, meet: func(t *testing.T, g grove, c *Comment) {
			g.stray(t, "Vote", "late", "Comment", c.ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			met := 0
			for after := int64(1); after < 6; after++ { // the batch of the first process that the second one comes before
				ctx := t.Context()
				emulator := processes(t)
				p := planting{client: emulator.Client(nil), vote: tt.vote, config: parented.ForestConfig{PageSize: 10}}
				g := plant(t, p)
				note := g.tree(t, "acme", 2, 0)
				c, err := g.comments.Under(note).First(ctx, repository.All())
				must(t, err)
				options := &repository.DeleteOptions{}
				if tt.planned {
					plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
					must(t, err)
					options.Plan = plan.Token
				}
				refused := false
				late := &beforeBatch{after: after, do: func() {
					tt.meet(t, g, c)
					_, err := g.forest.Resume(ctx, "acme")
					must(t, err)
					if refused = g.visible(t, "acme") == 4; refused {
						must(t, g.votes.In("acme").Delete(ctx, "late", nil))
					}
				}}
				var told error
				dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
					told = g.notes.In("acme").Delete(context.WithValue(ctx, lateKey{}, late), note.ID, options)
					return told
				})
				if !refused {
					continue // the first process had decided
				}
				met++
				if !errors.Is(told, tt.want) || errors.Is(told, repository.ErrAmbiguous) {
					t.Errorf("before batch %d: the delete returned %v, want %v", after, told, tt.want)
				}
				if got := g.visible(t, "acme"); got != 3 {
					t.Errorf("before batch %d: %d of 3 documents are left after a refusal", after, got)
				}
				must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
			}
			if met == 0 {
				t.Error("the second process never refused the delete")
			}
		})
	}
}

// A delete with a plan dies, and the tree grows. A second delete that knows of no plan is not held to the first one's; Resume counts a refusal.
func TestAPlanBindsItsOwnDelete(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(ctx context.Context, t *testing.T, g grove, id, wider string){
		"a delete without one": func(ctx context.Context, t *testing.T, g grove, id, wider string) {
			must(t, g.notes.In("acme").Delete(ctx, id, nil))
			if left := g.visible(t, "acme"); left != 0 {
				t.Errorf("%d documents are left", left)
			}
		},
		"a delete with one of its own": func(ctx context.Context, t *testing.T, g grove, id, wider string) {
			must(t, g.notes.In("acme").Delete(ctx, id, &repository.DeleteOptions{Plan: wider}))
			if left := g.visible(t, "acme"); left != 0 {
				t.Errorf("%d documents are left", left)
			}
		},
		"Resume": func(ctx context.Context, t *testing.T, g grove, _, _ string) {
			resumed, err := g.forest.Resume(ctx, "acme")
			must(t, err)
			if left := g.visible(t, "acme"); left != 4 || resumed != (parented.Resumed{Refused: 1}) {
				t.Errorf("%d of 4 documents are left, resumed %+v", left, resumed)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			emulator := processes(t)
			p := planting{client: emulator.Client(nil), vote: parented.Cascade}
			g := plant(t, p)
			note := g.tree(t, "acme", 2, 0)
			c, err := g.comments.Under(note).First(ctx, repository.All())
			must(t, err)
			plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
			must(t, err)
			g.stray(t, "Vote", "late", "Comment", c.ID)
			wider, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
			must(t, err)
			must(t, g.votes.In("acme").Delete(ctx, "late", nil))
			dyingAt(t, emulator, p, never, false, func(ctx context.Context, g grove) error {
				ctx, die := context.WithCancel(ctx)
				ctx = context.WithValue(ctx, lateKey{}, &beforeBatch{after: 1, do: die}) // behind its mark
				return g.notes.In("acme").Delete(ctx, note.ID, &repository.DeleteOptions{Plan: plan.Token})
			})
			g.stray(t, "Vote", "late", "Comment", c.ID)
			next(ctx, t, g, note.ID, wider.Token)
		})
	}
}

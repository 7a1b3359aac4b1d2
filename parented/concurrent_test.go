package parented_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// history is what a concurrent run was told, as the model of what must be there.
type history struct {
	mu sync.Mutex
	// doomed are the documents that a delete was tried on; their descendants
	// may be gone.
	doomed map[string]bool
	// under are all parents that a child was, or may have been, put under.
	under map[string][]string
	// kept are the children whose creation was acknowledged, by entity type.
	comments, replies, votes, labels []string
	notes                            []string
}

func (h *history) note(f func()) { h.mu.Lock(); defer h.mu.Unlock(); f() }

// writer is one of those that take random steps at the same time.
type writer struct {
	*history
	g    grove
	rand *rand.Rand
}

func (w *writer) pick(from *[]string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(*from) == 0 {
		return "none"
	}
	return (*from)[w.rand.IntN(len(*from))]
}

// Eight writers create, move, delete and restore on one tenant's trees. When
// they are done: no visible child without a visible parent, no child lost that
// nobody deleted, no label lost at all, and no parent of a vote gone.
func TestConcurrentWritersLeaveNoOrphanAndLoseNoChild(t *testing.T) {
	t.Parallel()
	for _, policy := range []parented.Policy{{}, {Retain: time.Hour}} {
		for run := range 6 {
			t.Run(fmt.Sprintf("retain %v, run %d", policy.Retain, run), func(t *testing.T) {
				t.Parallel()
				random := seeded(t)
				g := plant(t, planting{client: emulatortest.Client(t), note: policy, config: parented.ForestConfig{PageSize: 2}})
				h := &history{doomed: map[string]bool{}, under: map[string][]string{}}
				for range 4 {
					n := g.tree(t, "acme", 0, 0)
					h.notes = append(h.notes, n.ID)
				}
				var writers sync.WaitGroup
				for range 8 {
					w := &writer{h, g, rand.New(rand.NewPCG(random.Uint64(), 0))}
					writers.Go(func() {
						for range 50 {
							if err := w.step(t.Context()); !expected(err) {
								t.Errorf("%v", err)
								return
							}
						}
					})
				}
				writers.Wait()
				_, err := g.forest.Resume(t.Context(), "acme")
				must(t, err)
				h.check(t, g)
			})
		}
	}
}

// expected are the refusals that writers may meet.
func expected(err error) bool {
	for _, ok := range []error{repository.ErrNotFound, repository.ErrDanglingRef, repository.ErrHasChildren, repository.ErrPreconditionFailed, repository.ErrConflict} {
		if errors.Is(err, ok) {
			return true
		}
	}
	return err == nil || errors.Is(err, repository.ErrInvalid) // Restore where nothing is kept
}

func (w *writer) step(ctx context.Context) error {
	switch n := w.rand.IntN(20); {
	case n < 6:
		return create(ctx, w.history, w.g.comments, w.pick(&w.notes), &Comment{}, &w.comments)
	case n < 10:
		return create(ctx, w.history, w.g.replies, w.pick(&w.comments), &Reply{}, &w.replies)
	case n == 10:
		return create(ctx, w.history, w.g.votes, w.pick(&w.comments), &Vote{}, &w.votes)
	case n < 13:
		return create(ctx, w.history, w.g.labels, w.pick(&w.notes), &Label{}, &w.labels)
	case n < 15:
		id, to := w.pick(&w.comments), w.pick(&w.notes)
		w.note(func() { w.under[id] = append(w.under[id], to) })
		return w.g.comments.Move(ctx, "acme", id, tenantitem.Ref[Note](to))
	case n == 15:
		id := w.pick(&w.comments)
		w.note(func() { w.doomed[id] = true })
		return w.g.comments.In("acme").Delete(ctx, id, nil)
	case n < 18:
		id := w.pick(&w.notes)
		w.note(func() { w.doomed[id] = true })
		return w.g.notes.In("acme").Delete(ctx, id, nil)
	case n == 18:
		return w.g.notes.In("acme").Restore(ctx, w.pick(&w.notes))
	default:
		note := &Note{}
		err := w.g.notes.In("acme").Create(ctx, note)
		if err == nil {
			w.note(func() { w.notes = append(w.notes, note.ID) })
		}
		return err
	}
}

func create[C, P any](ctx context.Context, h *history, repo *parented.Repository[C, P], parent string, child *C, kept *[]string) error {
	err := repo.UnderID("acme", tenantitem.Ref[P](parent)).Create(ctx, child)
	if err == nil {
		id := engine.MetaOf(child).ID
		h.note(func() { *kept = append(*kept, id); h.under[id] = append(h.under[id], parent) })
	}
	return err
}

func (h *history) check(t *testing.T, g grove) {
	t.Helper()
	ctx := context.Background()
	notes := visibleIDs(t, g.notes.In("acme"), func(*Note) (string, string) { return "", "" })
	comments := visibleIDs(t, g.comments.In("acme"), func(c *Comment) (string, string) { return c.ID, c.ParentID.String() })
	replies := visibleIDs(t, g.replies.In("acme"), func(c *Reply) (string, string) { return c.ID, c.ParentID.String() })
	votes := visibleIDs(t, g.votes.In("acme"), func(c *Vote) (string, string) { return c.ID, c.ParentID.String() })
	labels := visibleIDs(t, g.labels.In("acme"), func(c *Label) (string, string) { return c.ID, c.ParentID.String() })
	for n, err := range g.notes.In("acme").Query(ctx, repository.All()) {
		must(t, err)
		notes[n.ID] = ""
	}
	noOrphans := func(what string, children, parents map[string]string) {
		for id, parent := range children {
			if _, ok := parents[parent]; !ok {
				t.Errorf("%s %s is there without its parent %s", what, id, parent)
			}
		}
	}
	noOrphans("comment", comments, notes)
	noOrphans("reply", replies, comments)
	noOrphans("vote", votes, comments)
	for id, parent := range labels {
		if _, ok := notes[parent]; parent != "" && !ok && !h.doomed[parent] {
			t.Errorf("label %s names %s, which nobody deleted", id, parent)
		}
		if _, ok := notes[parent]; parent != "" && !ok {
			t.Errorf("label %s still names the deleted %s", id, parent)
		}
	}
	for _, id := range h.labels {
		if _, ok := labels[id]; !ok {
			t.Errorf("label %s is lost", id)
		}
	}
	for _, id := range h.votes {
		if _, ok := votes[id]; !ok {
			t.Errorf("vote %s is lost: its comment was deleted in spite of Restrict", id)
		}
	}
	for _, id := range h.comments {
		if _, ok := comments[id]; !ok && !h.mayBeGone(id) {
			t.Errorf("comment %s is lost", id)
		}
	}
	for _, id := range h.replies {
		if _, ok := replies[id]; !ok && !h.mayBeGone(id) && !h.mayBeGone(h.under[id][0]) {
			t.Errorf("reply %s is lost", id)
		}
	}
}

func (h *history) mayBeGone(id string) bool {
	gone := h.doomed[id]
	for _, parent := range h.under[id] {
		gone = gone || h.doomed[parent]
	}
	return gone
}

func visibleIDs[T any](t *testing.T, s *repository.Scope[T], link func(*T) (id, parent string)) map[string]string {
	t.Helper()
	out := map[string]string{}
	for doc, err := range s.Query(context.Background(), repository.All()) {
		must(t, err)
		id, parent := link(doc)
		out[id] = parent
	}
	delete(out, "")
	return out
}

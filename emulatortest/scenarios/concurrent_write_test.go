package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// mark is the title by which a write of the caller is known.
const mark = "mine"

// callerWrites are writes of the caller on note a: each adds one to the count, or sets the title, once.
func callerWrites() []verb {
	return []verb{
		{"Replace", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = mark
			have["a"].Count++
			return notes.Replace(ctx, have["a"])
		}},
		{"Mutate", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Mutate(ctx, "a", func(n *Note) error { n.Title, n.Count = mark, n.Count+1; return nil })
			return err
		}},
		{"Patch", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Set("/title", mark).Increment("/count", 1))
			return err
		}},
		{"Batch of a replace", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = mark
			have["a"].Count++
			return notes.Batch().Replace(have["a"]).Commit(ctx)
		}},
		{"Batch of a patch", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			return notes.Batch().Patch("a", repository.Set("/title", mark).Increment("/count", 1)).Commit(ctx)
		}},
		{"SaveAll", func(ctx context.Context, notes *repository.Scope[Note], have map[string]*Note) error {
			have["a"].Title = mark
			have["a"].Count++
			receipt, err := notes.SaveAll(ctx, func(yield func(*Note) bool) { yield(have["a"]) }, nil)
			if err != nil {
				return err
			}
			return receipt.Items[0].Err
		}},
	}
}

// otherWrites are what another process does to note a at the same time, keeping what it finds there.
func otherWrites() []verb {
	return []verb{
		{"a mutation", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Mutate(ctx, "a", func(n *Note) error { n.Count += 100; return nil })
			return err
		}},
		{"a patch", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			_, err := notes.Patch(ctx, "a", repository.Increment("/count", 100))
			return err
		}},
		{"a delete and a create", func(ctx context.Context, notes *repository.Scope[Note], _ map[string]*Note) error {
			n, err := notes.Get(ctx, "a")
			if err != nil {
				return err
			}
			if err := notes.Delete(ctx, "a", &repository.DeleteOptions{ETag: n.ETag}); err != nil {
				return err
			}
			n.Count += 100
			n.ETag = ""
			return notes.Create(ctx, n)
		}},
	}
}

// TestAConcurrentWriteHappensOnce: beside another writer that keeps what it finds, a write is there once when it
// succeeded, not at all when it failed definitely, and once at most when nobody knows.
func TestAConcurrentWriteHappensOnce(t *testing.T) {
	t.Parallel()
	writers := otherWrites()
	if !inFull() {
		writers = writers[:1]
	}
	for _, v := range callerWrites() {
		for _, o := range writers {
			t.Run(v.name+" and "+o.name, func(t *testing.T) {
				t.Parallel()
				explore(t, appliedOnce(v, o))
			})
		}
	}
}

func appliedOnce(v, o verb) emulatortest.Scenario {
	return emulatortest.Scenario{
		Setup: setupNotes,
		Actors: []emulatortest.Actor{
			{Name: "caller", Do: func(w *emulatortest.World) error {
				notes, have := notesOf(w), map[string]*Note{}
				w.Undisturbed(func() {
					n, err := notes.Get(w.Context(), "a")
					must(w, err)
					have["a"] = n
				})
				err := v.do(w.Context(), notes, have)
				emulatortest.State[told](w).caller = err
				return refusalIsFine(err)
			}},
			{Name: "other", Do: func(w *emulatortest.World) error {
				return refusalIsFine(o.do(w.Context(), notesOf(w), nil))
			}},
		},
		Check: func(w *emulatortest.World) error {
			n, err := notesOf(w).Get(w.Context(), "a")
			if errors.Is(err, repository.ErrNotFound) {
				return nil // the other one died between its delete and its create
			}
			if err != nil {
				return err
			}
			err = emulatortest.State[told](w).caller
			if errors.Is(w.Outcome("caller"), emulatortest.ErrKilled) {
				err = emulatortest.ErrKilled
			}
			times := n.Count % 100
			switch {
			case times > 1:
				return fmt.Errorf("%s was counted %d times (it returned %w)", v.name, times, err)
			case err == nil && times != 1 && w.Outcome("other") == nil:
				return fmt.Errorf("%s succeeded, and its write is gone", v.name)
			case err != nil && times == 1 && !errors.Is(err, repository.ErrAmbiguous) && !errors.Is(err, emulatortest.ErrKilled):
				return fmt.Errorf("%s failed definitely (%w), and its write is there", v.name, err)
			}
			return nil
		},
	}
}

// told is what the caller's verb returned.
type told struct{ caller error }

// refusalIsFine keeps the definite refusals of a race from counting as a scenario that does nothing.
func refusalIsFine(err error) error {
	if errors.Is(err, repository.ErrPreconditionFailed) || errors.Is(err, repository.ErrNotFound) || errors.Is(err, repository.ErrConflict) {
		return nil
	}
	return err
}

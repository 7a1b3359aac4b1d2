package repository_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// fillerFunc is a filler of one function.
type fillerFunc func() error

func (f fillerFunc) Fill(context.Context, *engine.Write) error { return f() }

// guardFunc is a delete guard of one function.
type guardFunc func() error

func (f guardFunc) AllowDelete(context.Context, engine.Deletion) error { return f() }

// Hooks come in the order of their owners, not in that of the wiring, and an
// owner has one of a kind.
func TestHooksHaveOneOwnerAndAFixedOrder(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	c := engine.CollectionOf(b.notes)
	var called []string
	step := func(name string) func() error {
		return func() error { called = append(called, name); return nil }
	}
	observer := func(name string) func(context.Context, string, []any, bool) error {
		return func(context.Context, string, []any, bool) error { return step(name)() }
	}
	validator := func(name string) engine.ValidatorFunc {
		return func(context.Context, string, []any) error { return step(name)() }
	}
	attach := map[string]func(engine.Owner, string) error{
		"filler":       func(o engine.Owner, name string) error { return c.SetFiller(o, fillerFunc(step(name))) },
		"observer":     func(o engine.Owner, name string) error { return c.SetObserver(o, engine.ObserverFunc(observer(name))) },
		"validator":    func(o engine.Owner, name string) error { return c.SetValidator(o, validator(name)) },
		"delete guard": func(o engine.Owner, name string) error { return c.SetDeleteGuard(o, guardFunc(step(name))) },
	}
	for kind, set := range attach {
		must(t, set(engine.OwnerCopies, kind+" of copies"))
		must(t, set(engine.OwnerParented, kind+" of the tree"))
		must(t, set(engine.OwnerLifetime, kind+" of lifetimes"))
		err := set(engine.OwnerCopies, "second")
		want := "invalid " + kind + " of Note: denorm has set one, and denorm sets another (leave one of them out)"
		if !errors.Is(err, repository.ErrInvalid) || err.Error() != want {
			t.Errorf("a second %s: %v", kind, err)
		}
	}
	note := &Note{Title: "a"}
	must(t, b.acme.Create(t.Context(), note))
	must(t, b.acme.Delete(t.Context(), note.ID, nil))
	var want []string
	for _, kind := range []string{"validator", "filler", "observer", "delete guard"} {
		want = append(want, kind+" of the tree", kind+" of lifetimes", kind+" of copies")
	}
	if !slices.Equal(called, want) {
		t.Errorf("called:\n%q, want\n%q", called, want)
	}
}

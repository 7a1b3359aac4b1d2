package repository

import (
	"errors"
	"iter"

	"github.com/cosmosgrove/grove/internal/engine"
)

// The verbs work with entities of any type; here their answers get the type of
// the repository's entities back.

func as[P any](entity any, err error) (P, error) {
	p, _ := entity.(P)
	return p, err
}

func allAs[P any](entities []any) []P {
	if entities == nil {
		return nil
	}
	out := make([]P, len(entities))
	for i, e := range entities {
		out[i] = e.(P)
	}
	return out
}

// valueOf is as for a value that was read by its pointer.
func valueOf[V any](value any, err error) (V, error) {
	v, ok := value.(*V)
	if !ok {
		v = new(V)
	}
	return *v, err
}

// erased takes the type of the entities of a sequence away; nil stays nil.
func erased[P any](entities iter.Seq[P]) iter.Seq[any] {
	if entities == nil {
		return nil
	}
	return func(yield func(any) bool) {
		entities(func(entity P) bool { return yield(entity) })
	}
}

// conflict is a ConflictError before its document gets its type.
type conflict struct {
	current any
	error
}

func (c *conflict) Unwrap() error { return c.error }

func conflictOf[P any](err error) error {
	var c *conflict
	if !errors.As(err, &c) {
		return err
	}
	current, _ := c.current.(P)
	return &engine.ConflictError[P]{Current: current, Err: c.error}
}

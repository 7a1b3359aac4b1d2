package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/cosmosgrove/grove/internal/engine"
)

// eachByID is each for one id. What a query would not find, a document of
// another entity type or a deleted one, is not found here either.
func (s *scope) eachByID(ctx context.Context, k *engine.Call, id string, yield func(any, error) bool) error {
	k.ID = id
	entity, _, err := s.get(ctx, k)
	switch {
	case err == nil:
		yield(entity, nil)
		return nil
	case engine.IsUndecodable(err):
		yield(nil, err)
		return nil
	case errors.Is(err, ErrNotFound), errors.Is(err, engine.ErrEntityMismatch), engine.StatusOf(err) == http.StatusNotFound:
		return nil
	}
	return err
}

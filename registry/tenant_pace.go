package registry

import (
	"context"

	"github.com/cosmosgrove/grove/repository"
)

// paced bounds what is spent under a context, in request units a second; a
// rate that is not positive is no bound.
func paced(ctx context.Context, rate float64) context.Context {
	if rate <= 0 {
		return ctx
	}
	ceiling, err := repository.NewCeiling(repository.CeilingConfig{Total: rate})
	if err != nil {
		return ctx // a positive rate is valid
	}
	return repository.WithCeiling(ctx, ceiling)
}

package registry

import (
	"context"

	"github.com/cosmosgrove/grove/repository/ceiling"
)

// paced bounds what is spent under a context, in request units a second; a
// rate that is not positive is no bound.
func paced(ctx context.Context, rate float64) context.Context {
	if rate <= 0 {
		return ctx
	}
	bound, err := ceiling.New(ceiling.Config{Total: rate})
	if err != nil {
		return ctx // a positive rate is valid
	}
	return ceiling.With(ctx, bound)
}

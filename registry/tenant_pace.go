package registry

import (
	"context"

	"github.com/cosmosgrove/grove/repository/ceiling"
)

// paced bounds what is spent under a context, in request units a second; zero
// is no bound. It fails with tenantitem.ErrInvalid where the rate is none.
func paced(ctx context.Context, rate float64) (context.Context, error) {
	if rate == 0 {
		return ctx, nil
	}
	bound, err := ceiling.New(ceiling.Config{Total: rate})
	if err != nil {
		return nil, err
	}
	return ceiling.With(ctx, bound), nil
}

package parented

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cosmosgrove/grove/repository"
)

// nextAttempt waits before a step is tried again that met another writer, and ends
// that after maxAttempts.
func (f *Forest) nextAttempt(ctx context.Context, attempts int) error {
	if attempts >= maxAttempts {
		return repository.ErrPreconditionFailed
	}
	return pause(ctx, attempts)
}

// Two deletes of one tree get in each other's way; each of them makes progress
// when the other doesn't, so waiting a little is enough.
const (
	maxAttempts  = 60
	maxWaits     = 10 // for a writer that may have died: about a third of a second
	longestPause = 200 * time.Millisecond
)

func pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(rand.N(min(time.Millisecond<<min(attempt, 10), longestPause)) + time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

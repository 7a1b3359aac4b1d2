package engine

import (
	"context"
	"sync"
)

const (
	defaultConcurrency = 16
	maxConcurrency     = 256
	firstConcurrency   = 4
)

// limiter bounds the batches in flight. It grows by one for every round of
// batches that succeed and halves when the service throttles, which finds the
// container's throughput without knowing it. A batch that is throttled is sent
// again by Call.apply (retry.go), for maxThrottled at most; here only the number in
// flight is cut. What fails still is entered in the receipt (sendItems in bulk_send.go,
// enter in receipt.go).
type limiter struct {
	most int

	mu       sync.Mutex
	limit    float64
	inFlight int
	// sinceCut counts the batches that ended since the last cut: those that
	// were in flight then are refused for the same reason and don't cut again.
	sinceCut int
	changed  chan struct{}
}

func newLimiter(most int) *limiter {
	return &limiter{most: most, limit: float64(min(most, firstConcurrency)), sinceCut: most, changed: make(chan struct{}, 1)}
}

// acquire waits for a place. Only one goroutine may wait at a time.
func (l *limiter) acquire(ctx context.Context) error {
	for {
		if l.take() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.changed:
		}
	}
}

func (l *limiter) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight >= int(l.limit) {
		return false
	}
	l.inFlight++
	return true
}

func (l *limiter) release() {
	l.mu.Lock()
	l.inFlight--
	l.sinceCut++
	l.limit = min(l.limit+1/l.limit, float64(l.most))
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// throttled hears of a refusal for lack of throughput.
func (l *limiter) throttled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sinceCut < int(l.limit) {
		return
	}
	l.limit = max(1, l.limit/2)
	l.sinceCut = 0
}

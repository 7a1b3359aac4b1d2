package engine

import (
	"context"
	"sync"
)

// MutexKey names a document within a repository.
type MutexKey struct{ Tenant, Key, ID string }

// keyedMutex lets the mutations of one document take place one after another.
type keyedMutex struct {
	mu    sync.Mutex
	queue map[MutexKey]*queue
}

type queue struct {
	token   chan struct{} // holds one value while no caller has the turn
	waiting int
}

// Lock returns when it is the caller's turn; the returned function ends it.
func (t *keyedMutex) Lock(ctx context.Context, of MutexKey) (func(), error) {
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[MutexKey]*queue{}
	}
	q, ok := t.queue[of]
	if !ok {
		q = &queue{token: make(chan struct{}, 1)}
		q.token <- struct{}{}
		t.queue[of] = q
	}
	q.waiting++
	t.mu.Unlock()

	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.waiting--; q.waiting == 0 {
			delete(t.queue, of)
		}
	}
	select {
	case <-q.token:
		return func() { q.token <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

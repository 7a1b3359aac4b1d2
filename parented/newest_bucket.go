package parented

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
)

// newestBuckets is what this process knows of where there is room: the last bucket of each parent.
type newestBuckets struct {
	// locks let appends of this process to one parent take place one after
	// another: together they would all find the same bucket full.
	locks [64]chan struct{}
	seed  maphash.Seed

	mu      sync.Mutex
	guesses map[parentKey]int
}

type parentKey struct{ tenant, parent string }

// maxGuesses bounds the memory of what was learnt about parents.
const maxGuesses = 10_000

func newNewestBuckets() *newestBuckets {
	n := &newestBuckets{guesses: map[parentKey]int{}, seed: maphash.MakeSeed()}
	for i := range n.locks {
		n.locks[i] = make(chan struct{}, 1)
	}
	return n
}

// lock keeps appends of a parent apart; the returned function opens it again.
func (n *newestBuckets) lock(ctx context.Context, k parentKey) (func(), error) {
	mutex := n.locks[maphash.Comparable(n.seed, k)%uint64(len(n.locks))]
	select {
	case mutex <- struct{}{}:
		return func() { <-mutex }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *newestBuckets) guess(k parentKey) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	seq, ok := n.guesses[k]
	return seq, ok
}

// learn notes where there was room; it only ever moves up.
func (n *newestBuckets) learn(k parentKey, seq int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.guesses) >= maxGuesses {
		clear(n.guesses)
	}
	n.guesses[k] = max(n.guesses[k], seq)
}

func (n *newestBuckets) forget(k parentKey) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.guesses, k)
}

// bucketID is derived from the parent's id, so that two writers who find the
// last bucket full make the same next one.
func bucketID(parent string, seq int) string { return fmt.Sprintf("%s.%08d", parent, seq) }

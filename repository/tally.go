package repository

import (
	"context"
	"fmt"
	"sync"
)

// Tally counts the requests and the request units of everything done under
// the context that [WithTally] or [WithBudget] returned. It may be read while
// work goes on.
//
// With a client made with [ClientOptions] every attempt is counted, retries
// and metadata reads included. With another client only the answer that each
// call ended with is.
type Tally struct {
	parent *Tally
	budget float64 // request units; 0 is no budget, less is none left

	mu       sync.Mutex
	requests int64
	units    float64
}

// Requests returns how many requests were answered, or failed without an answer.
func (t *Tally) Requests() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requests
}

// RequestUnits returns the sum of the request charges, in RU.
func (t *Tally) RequestUnits() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.units
}

// String returns both figures, as in "3 requests, 12.40 RU".
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	noun := "requests"
	if t.requests == 1 {
		noun = "request"
	}
	return fmt.Sprintf("%d %s, %.2f RU", t.requests, noun, t.units)
}

func (t *Tally) add(requests int64, units float64) {
	for ; t != nil; t = t.parent {
		t.mu.Lock()
		t.requests += requests
		t.units += units
		t.mu.Unlock()
	}
}

// exhausted reports whether this budget or an outer one is used up.
func (t *Tally) exhausted() bool {
	for ; t != nil; t = t.parent {
		if t.budget != 0 && t.RequestUnits() >= t.budget {
			return true
		}
	}
	return false
}

type tallyKey struct{}

// WithTally returns a context under which cost is counted, and the counter.
// Tallies nest: what is done under an inner one counts in the outer ones too.
func WithTally(ctx context.Context) (context.Context, *Tally) {
	t := &Tally{parent: tallyFrom(ctx)}
	return context.WithValue(ctx, tallyKey{}, t), t
}

// WithBudget is [WithTally] with a limit in request units. Once the limit is
// reached, the next page of a query and the next write fail with [ErrBudget]
// before a request is sent. A charge is known only from the answer, so the
// total can pass the limit by the cost of one request for each call in flight.
// A limit that is not positive stops everything.
func WithBudget(ctx context.Context, requestUnits float64) (context.Context, *Tally) {
	if requestUnits <= 0 {
		requestUnits = -1
	}
	t := &Tally{parent: tallyFrom(ctx), budget: requestUnits}
	return context.WithValue(ctx, tallyKey{}, t), t
}

func tallyFrom(ctx context.Context) *Tally {
	t, _ := ctx.Value(tallyKey{}).(*Tally)
	return t
}

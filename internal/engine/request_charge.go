package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/cosmosgrove/grove/internal/cosmos"
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

// meter is a Tally as the pipeline's policy counts into it.
type meter Tally

// Add counts one request.
func (m *meter) Add(units float64) { (*Tally)(m).add(units) }

// add counts one request.
func (t *Tally) add(units float64) {
	for ; t != nil; t = t.parent {
		t.mu.Lock()
		t.requests++
		t.units += units
		t.mu.Unlock()
	}
}

// exhausted reports whether this budget or an outer one is used up. Call.once (call.go) asks before each
// request that is not exempt, and refuses it with ErrBudget.
func (t *Tally) exhausted() bool {
	for ; t != nil; t = t.parent {
		if t.budget != 0 && t.RequestUnits() >= t.budget {
			return true
		}
	}
	return false
}

// left returns what the tightest budget still allows, and whether there is one.
func (t *Tally) left() (units float64, bounded bool) {
	for ; t != nil; t = t.parent {
		if t.budget == 0 {
			continue
		}
		if mine := max(t.budget-t.RequestUnits(), 0); !bounded || mine < units {
			units, bounded = mine, true
		}
	}
	return units, bounded
}

// rowCost is what the pages of one query have cost so far. Several parts of a
// query may be read at a time.
type rowCost struct {
	mu    sync.Mutex
	units float64
	rows  int
}

// firstBudgetPage is the size of the first page under a budget, when nothing
// is known yet of what a row costs.
const firstBudgetPage = 4

func (c *rowCost) add(units float64, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.units += units
	c.rows += rows
}

// pageSize keeps a page to what the budget seems to allow, since a page can't
// be stopped halfway. wanted is the caller's size; 0 is any.
func (c *rowCost) pageSize(left float64, wanted int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := firstBudgetPage
	if c.rows > 0 && c.units > 0 {
		size = int(min(max(left*float64(c.rows)/c.units, 1), cosmos.MaxPageSize))
	}
	if wanted > 0 {
		size = min(size, wanted)
	}
	return size
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
// total can pass the limit by the cost of one request for each call in flight;
// pages are made small enough for what is left, as far as earlier pages tell.
// A limit that is not positive stops everything.
func WithBudget(ctx context.Context, requestUnits float64) (context.Context, *Tally) {
	if !(requestUnits > 0) { // what is no number too
		requestUnits = -1
	}
	t := &Tally{parent: tallyFrom(ctx), budget: requestUnits}
	return context.WithValue(ctx, tallyKey{}, t), t
}

func tallyFrom(ctx context.Context) *Tally {
	t, _ := ctx.Value(tallyKey{}).(*Tally)
	return t
}

package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Tally counts the requests and the request units of everything done under
// the context that [WithTally] or [WithBudget] returned. It may be read while
// work goes on.
//
// With a client made with [ClientOptions] every attempt is counted, retries
// and metadata reads included. With another client only the answer that each
// call ended with is.
type Tally struct{ t *engine.Tally }

// Requests returns how many requests were answered, or failed without an answer.
func (t *Tally) Requests() int64 { return t.t.Requests() }

// RequestUnits returns the sum of the request charges, in RU.
func (t *Tally) RequestUnits() float64 { return t.t.RequestUnits() }

// String returns both figures, as in "3 requests, 12.40 RU".
func (t *Tally) String() string { return t.t.String() }

// WithTally returns a context under which cost is counted, and the counter.
// Tallies nest: what is done under an inner one counts in the outer ones too.
func WithTally(ctx context.Context) (context.Context, *Tally) {
	ctx, t := engine.WithTally(ctx)
	return ctx, &Tally{t}
}

// WithBudget is [WithTally] with a limit in request units. Once the limit is
// reached, the next page of a query and the next write fail with [ErrBudget]
// before a request is sent. A charge is known only from the answer, so the
// total can pass the limit by the cost of one request for each call in flight;
// pages are made small enough for what is left, as far as earlier pages tell.
// A limit that is not positive stops everything.
func WithBudget(ctx context.Context, requestUnits float64) (context.Context, *Tally) {
	ctx, t := engine.WithBudget(ctx, requestUnits)
	return ctx, &Tally{t}
}

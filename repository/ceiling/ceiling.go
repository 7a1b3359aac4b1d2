// Package ceiling bounds the request units a second that a process spends, in
// all and by tenant: so that one tenant's import, or a nightly job, does not
// use up what the others are served from.
//
//	bound, err := ceiling.New(ceiling.Config{Total: 4000, PerTenant: 500}) // RU/s
//	registry.Module(registry.Config{Database: "notes", Ceiling: bound})
//
// [New] makes a [Ceiling] of a [Config]. Requests above it wait before they are
// sent, where without it the service would refuse them (429) for all tenants
// alike; [Use] tells what each tenant spent and waited. A piece of work gets a
// ceiling of its own by [With], and [WithThroughput] says to the service itself
// which work gives way. What one request may cost in all is another matter; see
// repository.WithBudget.
package ceiling

import (
	"context"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Config says how many request units a second may be spent. A zero is
// no bound.
type Config struct {
	// Total is for all tenants together, in RU/s. Where they want more, each gets the
	// same, and what one does not want is for the others.
	Total float64
	// PerTenant is for each tenant that Tenants does not name, in RU/s.
	PerTenant float64
	// Tenants are the ceilings of single tenants, in RU/s; 0 is none.
	Tenants map[string]float64
}

// Ceiling bounds the request units a second that this process spends, in all
// and by tenant: requests wait for their turn before they are sent, and fail
// with repository.ErrThrottled, unsent, when the context ends before it comes. Other
// processes of the service have ceilings of their own. What a request costs is
// known only from its answer; what it cost more than expected is waited off by
// those behind it, so that the rate holds over some seconds. One second's
// units may be spent at once after a rest. Reads that find out what became of
// a write whose answer was lost are counted and don't wait.
//
// It is given to repositories by Config.Ceiling of repository or registry, and to everything under a
// context by [With]; both hold. It is safe for use by many goroutines.
type Ceiling struct{ ceilingHandle }

// ceilingHandle is how Grove's other packages reach what is behind a ceiling.
type ceilingHandle = engine.CeilingHandle

// Use is what a tenant spent under a [Ceiling].
type Use struct {
	// Requests counts the attempts, repeated ones too.
	Requests int64
	// RequestUnits is the sum of the charges, in RU.
	RequestUnits float64
	// Waited is how long its requests waited for their turn, all together.
	Waited time.Duration
}

// New makes a ceiling. It fails with repository.ErrInvalid when a rate is
// negative, infinite or no number, or none is set.
func New(cfg Config) (*Ceiling, error) {
	c, err := engine.NewCeiling(engine.CeilingConfig(cfg))
	if err != nil {
		return nil, err
	}
	return &Ceiling{engine.CeilingHandleOf(c)}, nil
}

// Use is what each tenant spent since the ceiling got to know it, by tenant; ""
// are reads across tenants. A tenant that owes nothing is forgotten when it had
// no request for ten minutes, or ten thousand others had one since: its figures
// begin at zero again, like a counter after a restart.
func (c *Ceiling) Use() map[string]Use {
	use := engine.CeilingOf(c).Use()
	out := make(map[string]Use, len(use))
	for tenant, u := range use {
		out[tenant] = Use(u)
	}
	return out
}

// With returns a context under which everything that repositories do
// keeps to a ceiling, besides those of outer contexts and of the repositories; nil is
// none.
func With(ctx context.Context, c *Ceiling) context.Context {
	if c == nil {
		return ctx
	}
	return engine.WithCeiling(ctx, engine.CeilingOf(c))
}

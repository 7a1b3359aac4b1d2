package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// CeilingConfig is repository's, in request units a second; a zero is no bound.
type CeilingConfig struct {
	Total, PerTenant float64
	Tenants          map[string]float64
}

// Ceiling bounds the request units a second that this process spends, in all
// and by tenant: requests wait for their turn before they are sent.
type Ceiling struct {
	cfg CeilingConfig

	mu      sync.Mutex
	total   bucket
	tenants map[string]*tenantShare
	queue   waitingTenants
	unused  list.List // of the tenants without a request, the one that was used last is behind the others
	floor   float64   // the share of the tenant that was served last
	timer   *time.Timer
}

// TenantUse is what a tenant spent under a [Ceiling].
type TenantUse struct {
	Requests     int64
	RequestUnits float64
	Waited       time.Duration
}

// NewCeiling checks the configuration. It fails with [ErrInvalid] when a rate
// is negative, infinite or no number, or none is set.
func NewCeiling(cfg CeilingConfig) (*Ceiling, error) {
	if err := CheckRate("Total", cfg.Total); err != nil {
		return nil, err
	}
	if err := CheckRate("PerTenant", cfg.PerTenant); err != nil {
		return nil, err
	}
	for _, tenant := range slices.Sorted(maps.Keys(cfg.Tenants)) {
		if err := CheckRate(fmt.Sprintf("Tenants[%q]", tenant), cfg.Tenants[tenant]); err != nil {
			return nil, err
		}
	}
	if cfg.Total == 0 && cfg.PerTenant == 0 && len(cfg.Tenants) == 0 {
		return nil, &tenantitem.InvalidError{What: "ceiling", Reason: "it bounds nothing", Hint: "set at least one rate, in request units a second"}
	}
	cfg.Tenants = maps.Clone(cfg.Tenants)
	return &Ceiling{cfg: cfg, total: bucket{rate: cfg.Total}, tenants: map[string]*tenantShare{}}, nil
}

// CheckRate fails with [ErrInvalid] unless a rate, in request units a second, can be kept to; 0 is no bound.
func CheckRate(name string, rate float64) error {
	if rate >= 0 && !math.IsInf(rate, 0) {
		return nil
	}
	return &tenantitem.InvalidError{What: name, Reason: fmt.Sprintf("%v is no rate", rate), Hint: "give request units a second, or 0 for no bound"}
}

// Use is what each tenant spent since the ceiling got to know it.
func (c *Ceiling) Use() map[string]TenantUse {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]TenantUse, len(c.tenants))
	for name, t := range c.tenants {
		out[name] = t.use
	}
	return out
}

// CeilingHandle is embedded by repository's ceiling and leads to this one.
type CeilingHandle struct{ c *Ceiling }

// CeilingHandleOf returns a handle of a ceiling.
func CeilingHandleOf(c *Ceiling) CeilingHandle { return CeilingHandle{c} }

func (h CeilingHandle) ceiling() *Ceiling { return h.c }

// CeilingOf returns the ceiling behind repository's; nil for none.
func CeilingOf[H interface {
	comparable
	ceiling() *Ceiling
}](h H) *Ceiling {
	if h == *new(H) {
		return nil
	}
	return h.ceiling()
}

// ceilingError is a request that was not sent because its turn did not come in
// time.
type ceilingError struct{ err error }

// Error says so.
func (e *ceilingError) Error() string {
	return "the ceiling on request units left no turn in time: " + e.err.Error()
}

// Unwrap returns the sentinel and why the waiting ended.
func (e *ceilingError) Unwrap() []error { return []error{ErrThrottled, e.err} }

func isHeldBack(err error) bool {
	var held *ceilingError
	return errors.As(err, &held)
}

type ceilingKey struct{}

// ceilings are those of a context, the inner one first.
type ceilings struct {
	*Ceiling
	outer *ceilings
}

// WithCeiling returns a context under which a ceiling holds, besides those of
// outer contexts and of the collection.
func WithCeiling(ctx context.Context, c *Ceiling) context.Context {
	if c == nil {
		return ctx
	}
	outer, _ := ctx.Value(ceilingKey{}).(*ceilings)
	return context.WithValue(ctx, ceilingKey{}, &ceilings{c, outer})
}

// ceilings are all that a request has to keep to.
func (k *Call) ceilings(ctx context.Context) []*Ceiling {
	var all []*Ceiling
	if k.Collection.ceiling != nil {
		all = append(all, k.Collection.ceiling)
	}
	held, _ := ctx.Value(ceilingKey{}).(*ceilings)
	for ; held != nil; held = held.outer {
		if !slices.Contains(all, held.Ceiling) { // one that is given twice counts once
			all = append(all, held.Ceiling)
		}
	}
	return all
}

// underCeilings sends a request once its turn has come under all ceilings, and
// tells them what it cost.
func (k *Call) underCeilings(ctx context.Context, all []*Ceiling, x *exchange, send func(context.Context) (cosmos.Answer, error)) error {
	taken := make([]float64, len(all))
	for i, c := range all {
		if x.exempt {
			continue // it finds out what became of a write: that can't wait
		}
		var err error
		if taken[i], err = c.admit(ctx, k.At.Tenant); err != nil {
			for j := range i {
				all[j].spent(k.At.Tenant, taken[j], 0, 0)
			}
			return err
		}
	}
	ctx, tally := WithTally(ctx)
	err := k.sendOnce(ctx, x, send)
	for i, c := range all {
		if x.exempt {
			c.count(k.At.Tenant, tally.RequestUnits(), tally.Requests())
			continue
		}
		c.spent(k.At.Tenant, taken[i], tally.RequestUnits(), tally.Requests())
	}
	return err
}

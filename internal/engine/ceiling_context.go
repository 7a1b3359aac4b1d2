package engine

import (
	"context"
	"slices"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

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

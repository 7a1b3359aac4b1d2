package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Tenants is about everything that a tenant has in the database, whatever the
// species: taking it out, bringing it in, erasing it, measuring it. It goes
// around delete rules, copies and hooks, and it sees deleted documents and
// those of species that are not registered. Other tenants are neither read nor
// touched.
//
// Everything here can be stopped at any moment and repeated: what an earlier
// run did is found done. Other writers should have left the tenant alone
// first, as far as the result is to be one state of it.
type Tenants struct{ db *Database }

// Tenants returns the life of the tenants of a database.
func (db *Database) Tenants() *Tenants { return &Tenants{db} }

// TenantProgress is how far a call on a tenant has come.
type TenantProgress struct {
	// Container is the one in hand.
	Container string
	// Documents counts those that are done with, in all containers.
	Documents int64
}

// contents returns the view of each container that holds a tenant's
// documents, in the order of the plan. A container without a registered
// species can hold none of an application's documents.
func (t *Tenants) contents() []tenantContainer {
	var out []tenantContainer
	for _, c := range t.db.plan.containers {
		i := slices.IndexFunc(t.db.plan.species, func(s *Species) bool { return s.Container == c.ID && !s.untyped.IsGlobal() })
		if i >= 0 {
			out = append(out, tenantContainer{id: c.ID, Contents: t.db.plan.species[i].untyped.Contents()})
		}
	}
	return out
}

type tenantContainer struct {
	id string
	*engine.Contents
}

// EraseOptions change how a tenant is erased; nil is the defaults.
type EraseOptions struct {
	// Progress, where set, is called after every batch or two.
	Progress func(TenantProgress)
}

// Erasure is the receipt of an erased tenant.
type Erasure struct {
	TenantID string
	// Removed counts the documents by entity type, deleted ones and their
	// marks included; "" are those without a type.
	Removed map[string]int64
	// Requests and RequestUnits are what it cost.
	Requests     int64
	RequestUnits float64
	// Took is the time from the first request to the last.
	Took time.Duration
	// Complete says that a last look found nothing of the tenant.
	Complete bool
}

const (
	// erasePage is how many documents are removed between two calls of Progress.
	erasePage = 500
	// maxEraseLooks bounds the race with writers that don't stop.
	maxEraseLooks = 100
)

// Erase removes every document of a tenant from every container of the plan,
// and looks again until there is none. What it costs grows with the tenant's
// documents alone. Stopped, it is taken up by calling it again; the receipt
// counts what this call removed, and is returned with an error too.
func (t *Tenants) Erase(ctx context.Context, tenant string, opts *EraseOptions) (*Erasure, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	ctx, tally := repository.WithTally(ctx)
	begun := time.Now()
	receipt := &Erasure{TenantID: tenant, Removed: map[string]int64{}}
	e := eraser{tenant: tenant, receipt: receipt, progress: TenantProgress{}}
	if opts != nil {
		e.tell = opts.Progress
	}
	var err error
	for _, c := range t.contents() {
		if err = e.container(ctx, c); err != nil {
			break
		}
	}
	receipt.Requests, receipt.RequestUnits = tally.Requests(), tally.RequestUnits()
	receipt.Took = time.Since(begun)
	receipt.Complete = err == nil
	return receipt, err
}

type eraser struct {
	tenant   string
	receipt  *Erasure
	progress TenantProgress
	tell     func(TenantProgress)
}

func (e *eraser) container(ctx context.Context, c tenantContainer) error {
	e.progress.Container = c.id
	for range maxEraseLooks {
		found := false
		err := inPages(c.Outlines(ctx, e.tenant), erasePage, func(page []engine.Outline) error {
			found = true
			return e.page(ctx, c, page)
		})
		if err != nil || !found {
			return err
		}
	}
	return &tenantitem.InvalidError{What: "tenant", Reason: "other writers keep adding documents", Hint: "stop them, and erase the tenant again"}
}

func (e *eraser) page(ctx context.Context, c tenantContainer, page []engine.Outline) error {
	removed, err := c.Remove(ctx, page)
	types := make(map[string]string, len(page))
	for _, o := range page {
		types[placeOf(o.Stub)] = o.EntityType
	}
	for _, s := range removed {
		e.receipt.Removed[types[placeOf(s)]]++
	}
	e.progress.Documents += int64(len(removed))
	if e.tell != nil {
		e.tell(e.progress)
	}
	return ignoreAmbiguous(err) // the next look tells
}

// placeOf tells documents apart that share an id.
func placeOf(s engine.Stub) string { return fmt.Sprintf("%#v %s", s.Key, s.ID) }

// checkTenant is what every call on a tenant checks before any request.
func checkTenant(ctx context.Context, tenant string) error {
	if err := tenantitem.ValidateTenantID(tenant); err != nil {
		return err
	}
	if bound, ok := engine.TenantFrom(ctx); ok && bound != tenant {
		return repository.ErrTenantMismatch
	}
	return ctx.Err()
}

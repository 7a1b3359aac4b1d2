package registry

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Tenants is about everything that a tenant has in the database, whatever the
// entity types: taking it out, bringing it in, erasing it, measuring it. It goes
// around delete rules, copies and hooks, and it sees deleted documents and
// those of entity types that are not registered. Other tenants are neither read nor
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
// entity type can hold none of an application's documents.
func (t *Tenants) contents() []tenantContainer {
	var out []tenantContainer
	for _, c := range t.db.plan.containers {
		var view *entity
		for _, s := range t.db.plan.entities {
			// The entity type of documents without a type knows whose those are.
			if s.Container == c.ID && !s.Collection.IsGlobal() && (view == nil || s.untyped() != layout.AlwaysTyped) {
				view = s
			}
		}
		if view != nil {
			out = append(out, tenantContainer{id: c.ID, Contents: view.Collection.Contents()})
		}
	}
	return out
}

type tenantContainer struct {
	id string
	*engine.Contents
}

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

package registry

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/cosmosgrove/grove/internal/catalogue"
)

// eraseHeld removes what extensions hold of a tenant's chosen documents outside of their container:
// changes in quarantine. A nil where chooses all.
func (db *Database) eraseHeld(ctx context.Context, c tenantContainer, tenant string, where func(ErasedDocument) bool) (removed int64, err error) {
	asked := map[string]bool{}
	for _, x := range db.plan.extensions {
		if x.EraseHeld == nil || slices.ContainsFunc(x.Containers, func(own catalogue.Container) bool { return asked[own.ID] }) {
			continue
		}
		for _, own := range x.Containers {
			asked[own.ID] = true // others that share it hold nothing more
		}
		n, err := x.EraseHeld(ctx, db, c.id, func(held catalogue.HeldDocument) bool {
			d, ok := db.plan.held(c, held, tenant)
			return ok && (where == nil || where(d))
		})
		removed += int64(n)
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// held is a held document as predicates get it; ok is false where it is another tenant's. One that was not kept
// whole is known by its key and its id.
func (p *Plan) held(c tenantContainer, held catalogue.HeldDocument, tenant string) (d ErasedDocument, ok bool) {
	if len(held.Document) > 0 {
		return p.erased(c, held.Document), c.HeaderOf(held.Document).TenantID == tenant
	}
	id, err := json.Marshal(map[string]string{"id": held.ID})
	if err != nil { // texts can always be written
		return d, false
	}
	return p.erased(c, id), c.IsUnderTenant(held.PartitionKey, tenant)
}

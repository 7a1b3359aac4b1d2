package registry

import (
	"context"
	"encoding/json"
	"slices"
)

// ErasePlan is what would be erased, before it is.
type ErasePlan struct {
	TenantID string
	// Removed counts the documents that are chosen, by entity type; Kept the
	// others.
	Removed, Kept map[string]int64
	// Quarantined counts their changes in quarantine, which are removed too.
	Quarantined int64
	// IDs are the ids of the chosen documents by entity type, a thousand of
	// each at most.
	IDs map[string][]string
}

const maxPlannedIDs = 1000

// PlanErase reads all documents of a tenant and reports what Erase with the
// same predicate would remove; nothing is changed. The data of one person is
// chosen by what refers to the person:
//
//	mine := registry.RefersTo("ada")
//	plan, err := tenants.PlanErase(ctx, "acme", mine)
//	// show the plan, and then:
//	certificate, err := tenants.Erase(ctx, "acme", &registry.EraseOptions{Where: mine})
func (t *Tenants) PlanErase(ctx context.Context, tenant string, where func(ErasedDocument) bool) (*ErasePlan, error) {
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	plan := &ErasePlan{TenantID: tenant, Removed: map[string]int64{}, Kept: map[string]int64{}, IDs: map[string][]string{}}
	for _, c := range t.contents() {
		for raw, err := range c.Documents(ctx, tenant) {
			if err != nil {
				return plan, err
			}
			d := t.db.plan.erased(c, raw)
			if where != nil && !where(d) {
				plan.Kept[d.EntityType]++
				continue
			}
			plan.Removed[d.EntityType]++
			if ids := plan.IDs[d.EntityType]; len(ids) < maxPlannedIDs {
				plan.IDs[d.EntityType] = append(ids, d.ID)
			}
		}
		_, err := t.db.eraseHeld(ctx, c, tenant, func(d ErasedDocument) bool {
			if where == nil || where(d) {
				plan.Quarantined++
			}
			return false
		})
		if err != nil {
			return plan, err
		}
	}
	return plan, nil
}

// RefersTo chooses the documents with one of these ids, as the application knows or
// as the container stores them, and those that have one
// of them as the text of any member, however deep: references, and lists of them. A
// document that refers to several persons is chosen for each; look at the plan, and combine it with a
// condition of your own where it should stay.
func RefersTo(ids ...string) func(ErasedDocument) bool {
	ids = slices.Clone(ids)
	return func(d ErasedDocument) bool {
		if slices.Contains(ids, d.ID) || slices.Contains(ids, d.own) {
			return true
		}
		form := d.form
		if form == nil { // not of PlanErase or Erase
			form = d.Document
		}
		var members any
		_ = json.Unmarshal(form, &members) // a number beyond what Go holds is an error, and the rest is read
		return mentions(members, ids)
	}
}

func mentions(value any, ids []string) bool {
	switch v := value.(type) {
	case string:
		return slices.Contains(ids, v)
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return mentions(inner, ids) })
	case map[string]any:
		for name, inner := range v {
			// The service's members, the tenant and the type are no references.
			if name != "tenantId" && name != "entityType" && name != "_rid" && name != "_self" && name != "_etag" && mentions(inner, ids) {
				return true
			}
		}
	}
	return false
}

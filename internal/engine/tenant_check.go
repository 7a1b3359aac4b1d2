package engine

import (
	"context"

	"github.com/cosmosgrove/grove/tenantitem"
)

// A tenant is compared three times: the scope's with the context's before any
// request (checkTenant), that of an entity that is written with the scope's
// (bindEntity of package repository), and that of what was read with the scope's
// (Check).

type tenantKey struct{}

// WithTenant binds a context to one tenant, typically in the middleware that
// authenticates a request. Under it, every verb of a scope of another tenant,
// and every read across all tenants, fails with [ErrTenantMismatch] before any
// request is sent.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

// TenantFrom returns the tenant that the context is bound to, if it is.
func TenantFrom(ctx context.Context) (tenant string, bound bool) {
	tenant, bound = ctx.Value(tenantKey{}).(string)
	return tenant, bound
}

// checkTenant checks a scope against the tenant that the context is bound to. Every
// verb begins with it, by Start in call.go.
func (p *Partition) checkTenant(ctx context.Context) error {
	tenant, bound := TenantFrom(ctx)
	if !bound || tenant == p.Tenant && !p.All || p.global && p.underTenant {
		return nil
	}
	return ErrTenantMismatch
}

// Check refuses a document that does not belong where it was read from.
func (c *Collection) Check(at *Partition, meta *tenantitem.Meta) error {
	return c.CheckNames(at, meta.TenantID, meta.EntityType)
}

// CheckNames refuses a row that is another tenant's or of another entity type.
func (c *Collection) CheckNames(at *Partition, tenant, entityType string) error {
	if !at.All && tenant != at.Tenant {
		return ErrTenantMismatch
	}
	if !c.IsEntityType(entityType) {
		return ErrEntityMismatch
	}
	return nil
}

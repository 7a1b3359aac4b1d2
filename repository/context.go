package repository

import (
	"context"
)

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

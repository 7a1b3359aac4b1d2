package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// WithTenant binds a context to one tenant, typically in the middleware that
// authenticates a request. Under it, every verb of a scope of another tenant,
// and every read across all tenants, fails with [ErrTenantMismatch] before any
// request is sent.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return engine.WithTenant(ctx, tenant) // compared by checkTenant in internal/engine/tenant_check.go
}

// TenantFrom returns the tenant that the context is bound to, if it is.
func TenantFrom(ctx context.Context) (tenant string, bound bool) { return engine.TenantFrom(ctx) }

package repository

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
)

// WithTenant binds a context to one tenant, typically in the middleware that
// authenticates a request. Under it, every verb of a scope of another tenant,
// and every read across all tenants, fails with [ErrTenantMismatch] before any
// request is sent.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return engine.WithTenant(ctx, tenant)
}

// TenantFrom returns the tenant that the context is bound to, if it is.
func TenantFrom(ctx context.Context) (tenant string, bound bool) { return engine.TenantFrom(ctx) }

// WithPriority gives every request under the context a priority: when the
// container's throughput is used up, the service refuses low ones first. It
// needs priority-based execution to be on for the account, and overrides the
// client's own setting. Batch jobs and bulk imports do well with
// azcosmos.PriorityLevelLow.
func WithPriority(ctx context.Context, level azcosmos.PriorityLevel) context.Context {
	return engine.WithPriority(ctx, level)
}

// WithThroughputBucket counts every request under the context into one of the
// container's throughput buckets, 1 to 5, whose share of the throughput is set
// on the account. It overrides the client's own setting.
func WithThroughputBucket(ctx context.Context, bucket int32) context.Context {
	return engine.WithThroughputBucket(ctx, bucket)
}

package engine

import (
	"context"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

type (
	priorityKey struct{}
	bucketKey   struct{}
)

// WithPriority gives every request under the context a priority: when the
// container's throughput is used up, the service refuses low ones first. It
// needs priority-based execution to be on for the account, and overrides the
// client's own setting. Batch jobs and bulk imports do well with
// azcosmos.PriorityLevelLow.
func WithPriority(ctx context.Context, level cosmos.Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, &level)
}

// WithThroughputBucket counts every request under the context into one of the
// container's throughput buckets, 1 to 5, whose share of the throughput is set
// on the account. It overrides the client's own setting.
func WithThroughputBucket(ctx context.Context, bucket int32) context.Context {
	return context.WithValue(ctx, bucketKey{}, &bucket)
}

func priorityFrom(ctx context.Context) *cosmos.Priority {
	level, _ := ctx.Value(priorityKey{}).(*cosmos.Priority)
	return level
}

func bucketFrom(ctx context.Context) *int32 {
	bucket, _ := ctx.Value(bucketKey{}).(*int32)
	return bucket
}

package ceiling

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
)

// WithThroughput says how every request under the context shares the
// container's throughput; it overrides the client's own settings. An empty
// level and a bucket of 0 leave things as they are.
//
// When the throughput is used up, the service refuses requests of
// azcosmos.PriorityLevelLow first, which suits batch jobs and bulk imports; the
// account needs priority-based execution. A bucket, 1 to 5, has a share of the
// throughput that is set on the account.
func WithThroughput(ctx context.Context, level azcosmos.PriorityLevel, bucket int32) context.Context {
	if level != "" {
		ctx = engine.WithPriority(ctx, level)
	}
	if bucket != 0 {
		ctx = engine.WithThroughputBucket(ctx, bucket)
	}
	return ctx
}

package engine

import (
	"context"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// IsDeleted reports whether a document is there that is only kept for a while.
func (k *Call) IsDeleted(ctx context.Context, at *Partition) bool {
	raw, err := k.ReadItem(ctx, at)
	if err != nil {
		return false
	}
	return documents.ReadHeader(raw).DeletedAt != ""
}

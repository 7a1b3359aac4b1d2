// Package notes is a multi-tenant service for notes.
package notes

import (
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Note is one document.
type Note struct {
	tenantitem.TenantItem[Note]          // its id, tenant, type and etag
	Title                       string   `json:"title"`
	Tags                        []string `json:"tags,omitempty"`
	CommentCount                int      `json:"commentCount"`
}

// Data says what is stored, and where.
var Data = fx.Options(
	registry.Module(registry.Config{Database: "notes", Provision: true}),
	registry.Entity[Note](),
)

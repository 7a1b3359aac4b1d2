package code

import (
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Person struct {
	tenantitem.TenantItem[Person]
	FirstName string `json:"firstName"`
}

type Address struct {
	Street string `json:"street"`
	City   string `json:"city"`
}

// snippet: root
type Note struct {
	tenantitem.TenantItem[Note]                        // id, tenantId, entityType, _etag, _ts, ttl
	Title                       string                 `json:"title"`
	Stars                       int                    `json:"stars"`
	Address                     Address                `json:"address"`           // a part: goes with the note
	Tags                        []string               `json:"tags,omitempty"`    // few, and read with it
	OwnerID                     tenantitem.Ref[Person] `json:"ownerId,omitempty"` // a reference: can't be given a Ref[Note] by mistake
}

type Comment struct {
	parented.ParentedItem[Comment, Note]        // the same, and parentId
	Body                                 string `json:"body"`
}

// end snippet

type LookupValue struct {
	tenantitem.TenantItem[LookupValue]
	LookupType string `json:"lookupType"`
	Label      string `json:"label"`
}

// Mark is one of very many small things that a note has, kept in buckets.
type Mark struct {
	ID   string `json:"id"`
	Page int    `json:"page"`
}

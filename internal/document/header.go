package document

import (
	"github.com/cosmosgrove/grove/internal/codec"
)

// Header is what every document of Grove's has. A member that is missing or of
// another type is left at zero: another writer may have put anything there.
type Header struct {
	ID, TenantID, EntityType, ETag string
	// DeletedAt is the stored text.
	DeletedAt string
	// Marks and Mark are those of earlier writes.
	Marks []string
	Mark  string
}

// ReadHeader reads the header of a document, whatever else it holds.
func ReadHeader(raw []byte) Header {
	var h Header
	codec.Members(raw, func(name string, value []byte) {
		text := func() string { return textOf(string(value)) }
		switch name {
		case "id":
			h.ID = text()
		case "tenantId":
			h.TenantID = text()
		case "entityType":
			h.EntityType = text()
		case "_etag":
			h.ETag = text()
		case "deletedAt":
			h.DeletedAt = text()
		case Marks:
			h.Marks = textsOf(string(value))
		case Mark:
			h.Mark = text()
		}
	})
	return h
}

// ReadMembers reads top-level members into what the pointers point to. What
// does not fit is left as it was.
func ReadMembers(raw []byte, into map[string]any) {
	codec.Members(raw, func(name string, value []byte) {
		target, ok := into[name]
		if !ok {
			return
		}
		_ = codec.Decode(value, target) // a misfit counts as missing
	})
}

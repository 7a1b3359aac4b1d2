// Package tenantitem holds what every document of a multi-tenant service on
// Azure Cosmos DB has in common: its identity, its tenant, its type, and the
// model of its fields.
//
// An aggregate root embeds [TenantItem] of its own type:
//
//	type Note struct {
//		tenantitem.TenantItem[Note]
//		Title   string                 `json:"title"`
//		OwnerID tenantitem.Ref[Person] `json:"ownerId,omitempty"`
//	}
//
// The type parameter lets the compiler refuse a base pasted from another type
// (see [Root]) and gives typed references: note.Ref() is a Ref[Note], which
// can't be stored where a Ref[Person] belongs.
//
// The rest of the package is used by the packages above: [ValidateID] and its
// siblings are the one place where strings that become part of a key or an
// address are checked, and [ModelOf] reads an entity's JSON fields, references
// and copy declarations from its struct once.
package tenantitem

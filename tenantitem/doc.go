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
// # The types, in the order of need
//
//   - [TenantItem], the base of an aggregate root, and [Meta], which it holds:
//     id, tenant, entity type, etag, time to live.
//   - [Ref], the id of another document, as a field.
//   - [InvalidError], what [ValidateID] and its siblings refuse: they are the
//     one place where strings that become part of a key or an address are
//     checked.
//   - [Root] and [Item], the constraints of generic code over entities.
//   - [Model], which [ModelOf] reads once from a struct: each [Field] with its
//     [FieldKind], and the [Copy] that its denorm tag declares, with its
//     [CopyMode]. The packages above go by it.
//   - [TenantItemOf] and [RefTo], of which TenantItem and Ref are names: the
//     same over pointers, which Go compiles once for all entities.
package tenantitem

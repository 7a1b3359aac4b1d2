package tenantitem

import (
	"time"

	"github.com/cosmosgrove/grove/internal/document"
)

// kept is what an entity carries of its document beside its fields.
type kept = document.Kept //nolint:unused // it is embedded

// Meta is the part of a document that Grove and the service look at. It is
// embedded through [TenantItem] (or through a child's base), so its JSON
// members stand at the top of the document.
//
// Repositories fill ID, TenantID and EntityType on create, and ETag after
// every read and write. TS comes with reads; a write leaves it at zero,
// because the service's answer to a write that asks for minimal content does
// not carry it.
//
// Members of the document that the entity's struct does not have travel with
// Meta, unseen, and are stored again when the entity is.
type Meta struct {
	// ID is unique within the document's logical partition. At most 1,023
	// bytes; see [ValidateID].
	ID string `json:"id"`
	// TenantID is the first level of every partition key.
	TenantID string `json:"tenantId"`
	// EntityType says which kind of document this is.
	EntityType string `json:"entityType"`
	// ETag changes with every write. It is what Replace compares with.
	ETag string `json:"_etag,omitempty"`
	// TS is the time of the last write in Unix seconds, set by the service.
	TS int64 `json:"_ts,omitempty"`
	// TTL is the document's time to live in seconds, counted from its last
	// write; -1 means never. Nil leaves it to the container's default. It does
	// nothing in a container whose time to live is off.
	TTL *int `json:"ttl,omitempty"`
	// DeletedAt marks a document that was deleted but is kept for a while, so
	// that readers of the change feed see the delete. Repositories hide such
	// documents.
	DeletedAt *time.Time `json:"deletedAt,omitempty"`

	kept `json:"-"` //nolint:unused // read through internal/document
}

// ItemMeta returns the document's own Meta, to be read or changed in place.
func (m *Meta) ItemMeta() *Meta { return m }

// Deleted reports whether the document is a tombstone.
func (m *Meta) Deleted() bool { return m.DeletedAt != nil }

// Item is satisfied by a pointer to any struct that carries a [Meta]: roots
// and children alike. It stands on constructors of packages that serve both;
// applications meet [Root] and the child's constraint instead.
type Item[T any] interface {
	*T
	ItemMeta() *Meta
}

// TenantItem is the base of an aggregate root. Embed it with the root's own
// type as the parameter.
//
// It must not get a MarshalJSON or UnmarshalJSON method: promoted to the
// embedding struct, it would drop every field that the struct adds.
//
// Its methods are those of [TenantItemOf]; see [Ref] for why.
type TenantItem[T any] = TenantItemOf[*T]

// TenantItemOf is [TenantItem] over the pointer P of a root.
type TenantItemOf[P any] struct {
	Meta
}

// Ref returns a typed reference to this document, to be stored in others.
func (t *TenantItemOf[P]) Ref() RefTo[P] { return RefTo[P](t.ID) }

func (t *TenantItemOf[P]) mustEmbedTenantItem(P) {}

// Root is the constraint of everything that takes an aggregate root. Only a
// struct that embeds TenantItem of its own type satisfies it, and the missing
// method's name in the compiler's message says so:
//
//	*Plain does not satisfy tenantitem.Root[Plain] (missing method mustEmbedTenantItem)
//
// It appears on constructors only; T's pointer type is inferred, so callers
// write registry.Entity[Note]().
type Root[T any] interface {
	Item[T]
	mustEmbedTenantItem(*T)
}

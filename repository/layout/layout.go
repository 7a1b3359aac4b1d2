// Package layout says how the documents of an entity stand in a container that
// was not made for Grove: what fills its partition key, what its members are
// called, and where the entity lies. With it a service works on documents that
// other programs write too; a container of Grove's own needs none.
//
//	registry.Entity[Ticket](registry.In("tickets"), registry.WithLayout(layout.Layout{
//		Key:   []layout.KeySource{layout.FromTenant()},  // the container's key is /partitionKey
//		Names: map[string]string{"entityType": "$type"}, // what the other programs call it
//	}))
//
// A [Layout] has a [KeySource] for each level of the key, and says with [Untyped]
// whether documents may lack an entity type.
//
// Application code does not change by it. A layout that contradicts the
// container's key or the entity is an error at start-up that unwraps to
// tenantitem.ErrInvalid. docs/layouts.md has six such containers.
package layout

import "github.com/cosmosgrove/grove/internal/engine"

// Layout says how the documents of an entity stand in a container that was not
// made for Grove, see docs/layouts.md. Queries, patches, copies and deletes go
// by it; an application's own SQL names the entity's members, as ever. The zero
// value is Grove's own form. It has these fields:
//
//	Key []KeySource: what fills each level of the container's key, in order.
//	  Defaults to the paths themselves: where the tenant is stored, where the
//	  entity type is, fields of the entity.
//	Names map[string]string: the stored names of members at the top of the
//	  document, by the names that the entity and Grove have for them:
//	  {"tenantId": "tenant_id", "entityType": "$type", "_ops": "writes"}. The
//	  names of id and ttl, and of the service's own members, are fixed.
//	IDPrefix string: stands before every stored id, and before none of the
//	  application's: "Note|" for ids such as "Note|42". ASCII.
//	Untyped Untyped: documents may lack an entity type. Defaults to AlwaysTyped.
//	Envelope string: the member that holds the entity's fields, with the header
//	  outside.
//	Outside []string: fields of the entity that stand beside the envelope.
//	Global bool: the documents belong to no tenant; see Repository.Global.
//	UnderTenant bool: Global documents may be read and written under a context
//	  that WithTenant bound to a tenant.
//	NoMarks bool: keeps the marks of writes out of the documents. A write whose
//	  answer is lost is then ErrAmbiguous wherever its etag doesn't decide.
type Layout = engine.Layout

// Untyped says whether documents may lack an entity type.
type Untyped = engine.Untyped

// The three kinds of container.
const (
	// AlwaysTyped: a document without the entity type is another application's.
	AlwaysTyped = engine.AlwaysTyped
	// SomeUntyped: documents without a type are of this entity; those that
	// Grove writes have one.
	SomeUntyped = engine.SomeUntyped
	// AllUntyped: nothing in the container says a type; all documents there are
	// of this entity.
	AllUntyped = engine.AllUntyped
)

// KeySource says what fills a level of a partition key. See [FromTenant],
// [FromEntityType], [FromField], [Constant], [Format] and [Computed].
type KeySource = engine.KeySource

// FromTenant fills a level with the tenant's id.
func FromTenant() KeySource { return engine.FromTenant() }

// FromEntityType fills a level with the entity type.
func FromEntityType() KeySource { return engine.FromEntityType() }

// FromField fills a level with a field of the entity, "address.city" for a
// nested one: a text, a number or a boolean. In takes its value. The field "id"
// is the stored id, which In does not take, since each document has its own.
func FromField(path string) KeySource { return engine.FromField(path) }

// Constant fills a level with the same value in all documents: a string, a
// number or a boolean.
func Constant(value any) KeySource { return engine.Constant(value) }

// Format fills a level with text made of fields by fmt.Sprintf, such as
// Format("%s-%.10s", "tenantId", "createdAt") for a tenant's day: a synthetic
// key. Fields have the form in which they are stored: times are text, numbers
// are float64. None may be empty. In takes no value for it: each document's own
// fields say where it lies, and they can't change.
func Format(format string, fields ...string) KeySource { return engine.Format(format, fields...) }

// Computed is [Format] by a function. Its result is a string, a number or a
// boolean, and the same whenever the fields are.
func Computed(compute func(values []any) (any, error), fields ...string) KeySource {
	return engine.Computed(compute, fields...)
}

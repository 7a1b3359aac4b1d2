package repository

import "github.com/cosmosgrove/grove/internal/engine"

// Layout says how the documents of an entity stand in a container that was not
// made for Grove, see docs/layouts.md. Queries, patches, copies and deletes go
// by it; an application's own SQL names the entity's members, as ever. The zero
// value is Grove's own form.
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

// Decode reads a stored document, such as the change feed brings, into an
// entity. It fails with [ErrEntityMismatch] when the document is not of this
// entity type, and with a [*DecodeError] when it does not fit the struct.
func (r *Repository[T]) Decode(document []byte) (*T, error) {
	k := engine.Call{Collection: r.core(), Op: "Decode", At: &engine.Partition{All: true, Deleted: true}}
	document, err := r.core().Canonical(document)
	if err != nil {
		return nil, k.Fail(err)
	}
	entity, err := (&Reader[T]{repo: r, at: *k.At}).decode(document)
	return entity, k.Fail(err)
}

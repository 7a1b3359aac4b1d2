package denorm

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A kind of declaration (copy_mode_sync.go, copy_mode_snapshot.go, count.go, recent.go,
// link*.go, ondelete.go) is checked in its own files, and adds there what it does to the
// entity types it concerns: a [filler] for their writes, a [rule] for the
// change feed, audit and repair, a [transactionRule] for transactions, and entries in the
// entity type's own lists. Everything else in this package only goes through these.

// entityType is an entity type that takes part in declarations.
type entityType struct {
	entity *catalogue.Entity
	docs   *engine.Collection // set when the database is opened

	// groups are the copies that documents of the type hold.
	groups []*group
	// fillers take part in writes.
	fillers []filler
	// computed are the members that a declaration keeps, and that start empty.
	computed []*tenantitem.Field
	// claimed are the members that only one declaration may keep.
	claimed []claim
	// tracked are references that a declaration follows, so that a document which
	// gets another one has to leave the old one behind.
	tracked []*tenantitem.Field
	// guarded are the members that a patch may not touch, because what follows
	// from them would not follow a patch.
	guarded []engine.GuardedPath
	// beforeDelete may refuse a delete.
	beforeDelete []func(context.Context, engine.Deletion) error
	// tombstoneReason says why its deletes have to stay visible for a while; empty where
	// nothing follows from them. restrictReason says why documents may not end without one.
	tombstoneReason, restrictReason string

	// transactionFields are the members that a transaction looks at. hasTransactionFollowers says that others
	// may have to change with documents of this type.
	transactionFields       []string
	hasTransactionFollowers bool

	own       []rule // keep members of this type
	followers []rule // keep members of others, by documents of this type
}

func (typ *entityType) name() string { return typ.entity.EntityType }

// filler is what one declaration does in writes of an entity type.
type filler interface {
	// before are the members it looks at of a document that is replaced; always
	// says that it can't do without them.
	before() (names []string, always bool)
	fill(ctx context.Context, f *filling) error
}

// rule keeps some members of one entity type true, by documents of another. Its
// check computes them anew from what is stored, so that it does not matter how
// often, or in which order, changes are seen: of two updates that are seen in the
// wrong order neither carries a value, and the older one can't win (see check).
type rule interface {
	// holder is the type whose documents are kept.
	holder() *entityType
	// fields are the top-level members of the holder that check looks at.
	fields() []string
	// follows names, for each member that the rule writes, the members that it
	// reads: what other rules write there has to be right first.
	follows() []edge
	// declared tells what else the declarations say of those members: where
	// another thing is said, all documents have to be compared again.
	declared() []string
	// check compares documents of the holder with what they should hold. What
	// it compares with must be read after the documents were: then, a writer who
	// writes an older value over a newer one writes it over a document that
	// has changed since, and the condition on the etag refuses it. strict says
	// that a document which can't be seen is gone; without it only one that
	// is marked as deleted is. An error is about all documents; what is wrong
	// with one of them is a finding.
	check(ctx context.Context, tenant string, docs []engine.Document, strict bool) ([]finding, error)
	// affected finds the holder's documents that may have to change because
	// these documents of a type did.
	affected(ctx context.Context, tenant string, by *entityType, changed []engine.Document, yield func([]engine.Document) error) error
}

// transactionRule is a rule whose holders may lie in one logical partition with the
// documents that it follows, and then change in one transaction with them.
type transactionRule interface {
	rule
	// connect reports whether they may, and tells the entity types what the
	// transaction has to know of them.
	connect() bool
	// join notes what the transaction's changes ask of other documents, which it
	// names with want. What it returns runs when those were read.
	join(tx *transaction) (change func(ctx context.Context) error)
}

// finding is a member that does not hold what it should.
type finding struct {
	doc engine.Document
	// of is the document's entity type where it is not the holder: one that the
	// holder can't show.
	of         *entityType
	field      string // path of the field
	pointer    string
	have, want json.RawMessage
	// unset says that the member never held anything.
	unset bool
	// unrepairable is why the member can't be compared; nothing is to be written then.
	unrepairable error
}

// isGlobal reports whether the documents belong to no tenant.
func (typ *entityType) isGlobal() bool { return typ.entity.Layout != nil && typ.entity.Layout.Global }

// isParent reports whether a field names a child's parent.
func (typ *entityType) isParent(f *tenantitem.Field) bool {
	return typ.entity.Parent != nil && f.Path == "parentId"
}

// isKey reports whether the partition key is filled from a field.
func (typ *entityType) isKey(f *tenantitem.Field) bool {
	return slices.Contains(typ.entity.Layout.KeyFields(typ.entity.PartitionKey), f.Path)
}

// expires reports whether documents of the type end without a delete.
func (typ *entityType) expires() bool { return typ.entity.TTL > 0 }

// mayNotExpire says why documents of the type may not end without a delete; empty where they may.
func (typ *entityType) mayNotExpire() string { return cmp.Or(typ.tombstoneReason, typ.restrictReason) }

// keepTombstones says that deletes have to stay visible for a while.
func (typ *entityType) keepTombstones(why string) {
	if typ.tombstoneReason == "" {
		typ.tombstoneReason = why
	}
}

// guard keeps patches away from a field.
func (typ *entityType) guard(f *tenantitem.Field, reason, hint string) {
	typ.guarded = append(typ.guarded, engine.GuardedPath{Path: f.Path, Reason: reason, Hint: hint})
}

// useMutate is the way out where a patch is refused.
const useMutate = "use Mutate, which lets it follow"

package engine

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/internal/cosmos"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Stub is what the delete rules see of a stored document: its id, version and key,
// and what Grove keeps in it about deletes and moves, without the entity's own
// fields. An [Outline] is the same of a document of any entity type.
type Stub struct {
	ID   string `json:"id"`
	ETag string `json:"etag"`
	// Key are the values of all levels of the partition key.
	Key []any `json:"key"`
	// ParentID is set in children.
	ParentID string `json:"parent,omitempty"`
	// DeletedAt is the stored text; empty in a document that was not deleted.
	DeletedAt string `json:"deletedAt,omitempty"`
	// TTL is the document's own, in seconds; 0 is none.
	TTL int `json:"ttl,omitempty"`
	// Deletion is the journal of a delete under way, else nil.
	Deletion *Journal `json:"deletion,omitempty"`
	// Moving is the parent that a child comes from while it moves; see [MovingField].
	Moving string `json:"moving,omitempty"`
	// Moved are the document's former references, see [MovedField].
	Moved map[string][]string `json:"moved,omitempty"`
}

// Journal is what a delete that spans partitions leaves in a document until it
// is finished.
type Journal struct {
	// Phase says how far the delete is.
	Phase string `json:"phase"`
	// TTL is what the document's ttl was before; 0 is none.
	TTL int `json:"ttl,omitempty"`
	// Run is the id of the delete that this belongs to. All that one delete
	// hides has the same, and its restore and its purge go by it.
	Run string `json:"run,omitempty"`
	// Undone is the run that was taken back last. It stays in a document that
	// is there again, so that a late step of that run finds itself refused.
	Undone string `json:"undone,omitempty"`
	// Refused says why the run was, or is being, taken back; empty where a restore
	// did that.
	Refused string `json:"refused,omitempty"`
	// Shown is what the delete may take at most, by entity type, where a person was shown a
	// plan; see [Deletion].
	Shown map[string]int64 `json:"shown,omitempty"`
	// Sessions say how far the last run had come when it ended, in the document
	// that it began with; see [SessionsOf].
	Sessions []string `json:"sessions,omitempty"`
}

// JournalField is the name of the journal in a stored document. It stands beside
// the entity's own fields, like the marks of writes.
const JournalField = documents.Deletion

// MovingField is the name of a member that a child has while it moves: the id
// of its former parent, to which it may have to go back.
const MovingField = documents.Moving

// stubProjection reads a Stub whatever the key's levels are.
func (c *Collection) stubProjection() string {
	var b strings.Builder
	b.WriteString(`SELECT VALUE {"id": c.id, "etag": c._etag, "parent": c.parentId, "deletedAt": c.deletedAt, "ttl": c.ttl, "deletion": c.` + JournalField + `, "moving": c.` + MovingField + `, "moved": c.` + MovedField + `, "key": [`)
	b.WriteString(c.outlineKeySQL())
	b.WriteString("]} FROM " + RootAlias)
	return b.String()
}

// in resolves a tenant and further key values to a partition that shows
// deleted documents too.
func (c *Collection) in(tenant string, key []any) Partition {
	if c.IsGlobal() {
		tenant = "" // referred to from documents of any tenant
	}
	at := c.Resolve(c.entityType, tenant, key)
	at.Deleted = true
	return at
}

// stubDocument is a stored document as far as a Stub needs it.
type stubDocument struct {
	tenantitem.Meta
	ParentID  string              `json:"parentId"`
	DeletedAt string              `json:"deletedAt"` // as it is stored, in place of Meta's
	Deletion  *Journal            `json:"_deletion"`
	Moving    string              `json:"_moving"`
	Moved     map[string][]string `json:"_moved"`
}

// Stubs returns the outlines of a tenant's documents, deleted ones included,
// under the rules of [Reader.Query]. Key values beyond the tenant may be left
// out.
func (c *Collection) Stubs(ctx context.Context, tenant string, key []any, q Query) iter.Seq2[Stub, error] {
	return c.stubs(ctx, c.in(tenant, key), q)
}

// StubsOfAllTenants is Stubs across tenants. It visits every physical
// partition of the container.
func (c *Collection) StubsOfAllTenants(ctx context.Context, q Query) iter.Seq2[Stub, error] {
	at := Partition{All: true, Deleted: true, global: c.IsGlobal(), underTenant: c.underTenant, Key: cosmos.NewPartitionKey()}
	return c.stubs(ctx, at, q)
}

func (c *Collection) stubs(ctx context.Context, at Partition, q Query) iter.Seq2[Stub, error] {
	return func(yield func(Stub, error) bool) {
		k := Call{Collection: c, Op: "Stubs", At: &at}
		err := k.StartQuery(ctx)
		if err == nil {
			err = ProjectAs(ctx, &k, q, c.stubProjection(), func(stub Stub) bool { return yield(stub, nil) })
		}
		if err != nil {
			yield(Stub{}, k.Fail(err))
		}
	}
}

// Count counts a tenant's documents, deleted ones included.
func (c *Collection) Count(ctx context.Context, tenant string, key []any, q Query) (int64, error) {
	at := c.in(tenant, key)
	return c.CountIn(ctx, &at, q)
}

// Stub reads the outline of one document, deleted or not: a point read where
// the key is known, else a query by id over the tenant. It fails with
// [ErrNotFound].
func (c *Collection) Stub(ctx context.Context, tenant string, key []any, id string) (Stub, error) {
	at := c.in(tenant, key)
	k := Call{Collection: c, Op: "Stub", At: &at, ID: id}
	if err := k.Start(ctx); err != nil {
		return Stub{}, k.Fail(err)
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return Stub{}, k.Fail(err)
	}
	if c.Derives() && !at.Full {
		if complete, err := c.completed(at, c.fieldsByID(at, id)); err == nil {
			at = complete
		}
	}
	if !at.Full {
		for stub, err := range c.stubs(ctx, at, Where(Eq("id", id)).Limit(1)) {
			return stub, err
		}
		return Stub{}, k.Fail(ErrNotFound)
	}
	var err error
	for _, partition := range c.PartitionsOf(at) {
		var raw []byte
		if raw, err = k.ReadItem(ctx, &partition); StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			break
		}
		doc := readStub(raw)
		if err = c.Check(&at, &doc.Meta); err != nil {
			break
		}
		return doc.stub(c.outlineKey(partition)), nil
	}
	return Stub{}, k.Fail(err)
}

// UnmarshalJSON reads an outline. A member of another type, which another
// writer may have put there, counts as missing.
func (s *Stub) UnmarshalJSON(raw []byte) error {
	documents.ReadMembers(raw, map[string]any{
		"id": &s.ID, "etag": &s.ETag, "key": &s.Key, "parent": &s.ParentID, "deletedAt": &s.DeletedAt, "ttl": &s.TTL,
		"deletion": &s.Deletion, "moving": &s.Moving, "moved": &s.Moved,
	})
	return nil
}

// readStub reads a whole document in the same way.
func readStub(raw []byte) *stubDocument {
	d := &stubDocument{}
	documents.ReadMembers(raw, map[string]any{
		"id": &d.ID, tenantField: &d.TenantID, entityField: &d.EntityType, "_etag": &d.ETag, "ttl": &d.TTL,
		"parentId": &d.ParentID, "deletedAt": &d.DeletedAt, JournalField: &d.Deletion, MovingField: &d.Moving, MovedField: &d.Moved,
	})
	return d
}

func (d *stubDocument) stub(key []any) Stub {
	out := Stub{ID: d.ID, ETag: d.ETag, Key: key, ParentID: d.ParentID, DeletedAt: d.DeletedAt, Deletion: d.Deletion, Moving: d.Moving, Moved: d.Moved}
	if d.TTL != nil {
		out.TTL = *d.TTL
	}
	return out
}

// partitionOf returns where a stub's document lies.
func (c *Collection) partitionOf(stub Stub) (Partition, error) {
	return c.placeOf(stub.Key)
}

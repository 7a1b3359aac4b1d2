package repository

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Species is a repository without its Go type. It is what the delete rules of
// package parented and the tenant's life in package registry work with: it
// sees documents that repositories hide, and changes them without hooks. It is
// for Grove's own packages; its shape may change.
type Species struct{ core *core }

// Species returns the repository without its Go type.
func (r *Repository[T]) Species() *Species { return &Species{r.core} }

// EntityType returns the stored name of the species.
func (s *Species) EntityType() string { return s.core.entityType }

// Names returns the stored name and the older ones.
func (s *Species) Names() []string {
	return append([]string{s.core.entityType}, s.core.aliases...)
}

// Model returns the entity's fields.
func (s *Species) Model() *tenantitem.Model { return s.core.model }

// KeyPaths returns the paths of the container's partition key.
func (s *Species) KeyPaths() []string {
	paths := make([]string, len(s.core.levels))
	for i, level := range s.core.levels {
		paths[i] = level.path
	}
	return paths
}

// Same reports whether both stand for one repository.
func (s *Species) Same(other *Species) bool { return other != nil && s.core == other.core }

// Stub is the outline of a stored document.
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
	// Sessions say how far the last run had come when it ended, in the document
	// that it began with; see [SessionsOf].
	Sessions []string `json:"sessions,omitempty"`
}

// JournalField is the name of the journal in a stored document. It stands beside
// the entity's own fields, like the stamps of writes.
const JournalField = "_deletion"

// stubProjection reads a Stub whatever the key's levels are.
func (s *Species) stubProjection() string {
	var b strings.Builder
	b.WriteString(`SELECT VALUE {"id": c.id, "etag": c._etag, "parent": c.parentId, "deletedAt": c.deletedAt, "ttl": c.ttl, "deletion": c.` + JournalField + `, "moved": c.` + MovedField + `, "key": [`)
	for i, level := range s.core.levels {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(fieldSQL(level.field.Path))
	}
	b.WriteString("]} FROM " + rootAlias)
	return b.String()
}

// in resolves a tenant and further key values to a partition that shows
// deleted documents too.
func (s *Species) in(tenant string, key []any) partition {
	at := s.core.resolve(s.core.entityType, tenant, key)
	at.deleted = true
	return at
}

// reader is a typed view of the same repository for code that needs one.
func (s *Species) reader(at partition) *Reader[stubDocument] {
	repo := &Repository[stubDocument]{core: s.core, meta: func(d *stubDocument) *tenantitem.Meta { return &d.Meta }}
	return &Reader[stubDocument]{repo: repo, at: at}
}

// stubDocument is a stored document as far as a Stub needs it.
type stubDocument struct {
	tenantitem.Meta
	ParentID  string              `json:"parentId"`
	DeletedAt string              `json:"deletedAt"` // as it is stored, in place of Meta's
	Deletion  *Journal            `json:"_deletion"`
	Moved     map[string][]string `json:"_moved"`
}

// Stubs returns the outlines of a tenant's documents, deleted ones included,
// under the rules of [Reader.Query]. Key values beyond the tenant may be left
// out.
func (s *Species) Stubs(ctx context.Context, tenant string, key []any, q Query) iter.Seq2[Stub, error] {
	return s.stubs(ctx, s.in(tenant, key), q)
}

// StubsOfAllTenants is Stubs across tenants. It visits every physical
// partition of the container.
func (s *Species) StubsOfAllTenants(ctx context.Context, q Query) iter.Seq2[Stub, error] {
	at := partition{all: true, deleted: true, key: partitionKey(nil)}
	return s.stubs(ctx, at, q)
}

func (s *Species) stubs(ctx context.Context, at partition, q Query) iter.Seq2[Stub, error] {
	return func(yield func(Stub, error) bool) {
		r := s.reader(at)
		k := call{core: s.core, op: "Stubs", at: &r.at}
		err := r.startQuery(ctx, &k)
		if err == nil {
			err = projectAs(ctx, &k, r, q, s.stubProjection(), func(stub Stub) bool { return yield(stub, nil) })
		}
		if err != nil {
			yield(Stub{}, k.fail(err))
		}
	}
}

// Count counts a tenant's documents, deleted ones included.
func (s *Species) Count(ctx context.Context, tenant string, key []any, q Query) (int64, error) {
	return s.reader(s.in(tenant, key)).Count(ctx, q)
}

// Stub reads the outline of one document, deleted or not: a point read where
// the key is known, else a query by id over the tenant. It fails with
// [ErrNotFound].
func (s *Species) Stub(ctx context.Context, tenant string, key []any, id string) (Stub, error) {
	at := s.in(tenant, key)
	k := call{core: s.core, op: "Stub", at: &at, id: id}
	if err := k.start(ctx); err != nil {
		return Stub{}, k.fail(err)
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return Stub{}, k.fail(err)
	}
	if !at.full {
		for stub, err := range s.stubs(ctx, at, Where(Eq("id", id)).Limit(1)) {
			return stub, err
		}
		return Stub{}, k.fail(ErrNotFound)
	}
	var err error
	for _, home := range s.core.partitionsOf(at) {
		var raw []byte
		if raw, err = k.readItem(ctx, &home); statusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			break
		}
		doc := readStub(raw)
		if err = s.core.check(&at, &doc.Meta); err != nil {
			break
		}
		return doc.stub(home), nil
	}
	return Stub{}, k.fail(err)
}

// UnmarshalJSON reads an outline. A member of another type, which another
// writer may have put there, counts as missing.
func (s *Stub) UnmarshalJSON(raw []byte) error {
	documents.ReadMembers(raw, map[string]any{
		"id": &s.ID, "etag": &s.ETag, "key": &s.Key, "parent": &s.ParentID, "deletedAt": &s.DeletedAt, "ttl": &s.TTL,
		"deletion": &s.Deletion, "moved": &s.Moved,
	})
	return nil
}

// readStub reads a whole document in the same way.
func readStub(raw []byte) *stubDocument {
	d := &stubDocument{}
	documents.ReadMembers(raw, map[string]any{
		"id": &d.ID, tenantField: &d.TenantID, entityField: &d.EntityType, "_etag": &d.ETag, "ttl": &d.TTL,
		"parentId": &d.ParentID, "deletedAt": &d.DeletedAt, JournalField: &d.Deletion, MovedField: &d.Moved,
	})
	return d
}

func (d *stubDocument) stub(home partition) Stub {
	out := Stub{ID: d.ID, ETag: d.ETag, Key: home.values, ParentID: d.ParentID, DeletedAt: d.DeletedAt, Deletion: d.Deletion, Moved: d.Moved}
	if d.TTL != nil {
		out.TTL = *d.TTL
	}
	return out
}

// partitionOf returns where a stub's document lies.
func (s *Species) partitionOf(stub Stub) (partition, error) {
	if len(stub.Key) != len(s.core.levels) {
		return partition{}, fmt.Errorf("%w: a document's outline has %d of %d key values", ErrInvalid, len(stub.Key), len(s.core.levels))
	}
	tenant, _ := stub.Key[0].(string)
	return partition{tenant: tenant, values: stub.Key, full: true, deleted: true, key: partitionKey(stub.Key)}, nil
}

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Document is a part of a stored document: who it is and some of its members,
// as they are stored.
type Document struct {
	ID   string `json:"id"`
	ETag string `json:"etag"`
	// Key are the values of all levels of the partition key.
	Key []any `json:"key"`
	// DeletedAt is the stored text; empty in a document that was not deleted.
	DeletedAt string `json:"deletedAt,omitempty"`
	// Fields are top-level members by name. A missing member is not in it.
	Fields map[string]json.RawMessage `json:"fields"`
}

// UnmarshalJSON reads a part of a document. A member of another type, which
// another writer may have put there, counts as missing.
func (d *Document) UnmarshalJSON(raw []byte) error {
	documents.ReadMembers(raw, map[string]any{"id": &d.ID, "etag": &d.ETag, "key": &d.Key, "deletedAt": &d.DeletedAt})
	codec.Members(raw, func(name string, value []byte) {
		if name == "fields" {
			d.Fields = fieldsOf(value)
		}
	})
	return nil
}

// fieldsOf takes an object apart.
func fieldsOf(raw []byte) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	codec.Members(raw, func(name string, value []byte) { fields[name] = slices.Clone(value) })
	return fields
}

// Documents reads the named top-level members of a tenant's documents, deleted
// ones included, under the rules of [Reader.Query]. Key values beyond the
// tenant may be left out.
func (c *Collection) Documents(ctx context.Context, tenant string, key []any, q Query, fields ...string) iter.Seq2[Document, error] {
	return c.documents(ctx, c.in(tenant, key), q, fields)
}

func (c *Collection) documents(ctx context.Context, at Partition, q Query, fields []string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		q.page = MaxIDsPerQuery
		k := Call{Collection: c, Op: "Documents", At: &at}
		err := k.StartQuery(ctx)
		if err == nil {
			err = ProjectAs(ctx, &k, q, c.documentProjection(fields), func(d Document) bool { return yield(d, nil) })
		}
		if err != nil {
			yield(Document{}, k.Fail(err))
		}
	}
}

// KeyOf returns the values that In takes for one entity, a pointer to the
// repository's type, from its fields: as many as it has.
func (c *Collection) KeyOf(entity any) []any {
	var key []any
	for _, level := range c.levels {
		if !level.isGiven() {
			continue
		}
		value, ok := level.field.Value(reflect.ValueOf(entity).Elem())
		if !ok {
			return key
		}
		key = append(key, value.Interface())
	}
	return key
}

// DocumentsByID reads documents by their ids, deleted ones included; those
// that do not exist are left out. One id costs a point read where the
// key is complete, others a query for every 1,000. Under a prefix of the key
// an id may not be unique; two documents with one id are an error then.
func (c *Collection) DocumentsByID(ctx context.Context, tenant string, key []any, ids []string, fields ...string) (map[string]Document, error) {
	at := c.in(tenant, key)
	return c.documentsIn(ctx, at, c.PartitionsOf(at), ids, fields)
}

// documentsAt is DocumentsByID in one logical partition, without those of older
// names.
func (c *Collection) documentsAt(ctx context.Context, at Partition, ids, fields []string) (map[string]Document, error) {
	at.Deleted = true
	return c.documentsIn(ctx, at, []Partition{at}, ids, fields)
}

func (c *Collection) documentsIn(ctx context.Context, at Partition, partitions []Partition, ids, fields []string) (map[string]Document, error) {
	found := make(map[string]Document, len(ids))
	if len(ids) == 1 && !at.Full && c.Derives() {
		if complete, err := c.completed(at, c.fieldsByID(at, ids[0])); err == nil {
			at, partitions = complete, []Partition{complete}
		}
	}
	if len(ids) == 1 && at.Full {
		d, err := c.document(ctx, at, partitions, ids[0])
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrEntityMismatch) {
			return found, nil
		}
		found[ids[0]] = d
		return found, err
	}
	for chunk := range slices.Chunk(ids, MaxIDsPerQuery) {
		for d, err := range c.documents(ctx, at, Where(In("id", Anys(chunk)...)), fields) {
			if err != nil {
				return nil, err
			}
			if _, twice := found[d.ID]; twice {
				k := Call{Collection: c, Op: "DocumentsByID", At: &at, ID: d.ID}
				return nil, k.Fail(&tenantitem.InvalidError{What: "reference to " + c.entityType, Reason: "two documents of the tenant have this id, in different partitions", Hint: "give documents that are referred to ids of their own"})
			}
			found[d.ID] = d
		}
	}
	return found, nil
}

// document is a point read.
func (c *Collection) document(ctx context.Context, at Partition, partitions []Partition, id string) (Document, error) {
	k := Call{Collection: c, Op: "Document", At: &at, ID: id}
	err := k.Start(ctx)
	if err == nil {
		err = tenantitem.ValidateID(id)
	}
	if err != nil {
		return Document{}, k.Fail(err)
	}
	for _, partition := range partitions {
		var raw []byte
		if raw, err = k.ReadItem(ctx, &partition); StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			break
		}
		var d Document
		if d, _, err = c.readDocument(raw); err == nil {
			return d, nil
		}
	}
	return Document{}, k.Fail(err)
}

// ReadDocument takes a whole stored document apart. It returns the tenant that
// the document belongs to, and fails with [ErrEntityMismatch] when it is not
// of this entity type.
func (c *Collection) ReadDocument(raw []byte) (d Document, tenant string, err error) {
	if c.layout != nil {
		var misplaced error
		if raw, misplaced = c.layout.Canonical(raw); misplaced != nil && c.IsEntityType(readHeader(raw).EntityType) {
			return d, "", &decodeError{misplaced}
		}
	}
	return c.readDocument(raw)
}

// readDocument is ReadDocument of a document in Grove's form.
func (c *Collection) readDocument(raw []byte) (d Document, tenant string, err error) {
	d.Fields = fieldsOf(raw)
	h := documents.ReadHeader(raw)
	d.ID, d.ETag, d.DeletedAt = h.ID, h.ETag, h.DeletedAt
	if !c.IsEntityType(h.EntityType) {
		return d, "", ErrEntityMismatch
	}
	d.Key, err = c.keyOfDocument(raw, h.TenantID)
	return d, h.TenantID, err
}

// memberAt follows a path without array steps; null stands for nothing there.
func memberAt(fields map[string]json.RawMessage, path string) json.RawMessage {
	name, rest, deeper := strings.Cut(path, ".")
	raw, ok := fields[name]
	if !ok {
		return json.RawMessage("null")
	}
	if !deeper {
		return raw
	}
	var inner map[string]json.RawMessage
	if err := codec.Decode(raw, &inner); err != nil {
		return json.RawMessage("null")
	}
	return memberAt(inner, rest)
}

func (c *Collection) documentProjection(fields []string) string {
	var b strings.Builder
	b.WriteString(`SELECT VALUE {"id": c.id, "etag": c._etag, "deletedAt": c.deletedAt, "key": [`)
	b.WriteString(c.outlineKeySQL())
	b.WriteString(`], "fields": {`)
	for i, name := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: c[%q]", name, name)
	}
	b.WriteString("}} FROM " + RootAlias)
	return b.String()
}

// CountBy counts a tenant's documents, deleted ones included, by the value of
// a text field.
func (c *Collection) CountBy(ctx context.Context, tenant, field string, q Query) (map[string]int64, error) {
	at := c.in(tenant, nil)
	k := Call{Collection: c, Op: "CountBy", At: &at}
	if err := k.StartQuery(ctx); err != nil {
		return nil, k.Fail(err)
	}
	type row struct {
		By string `json:"by"`
		N  int64  `json:"n"`
	}
	k.Into = reflect.TypeFor[row]()
	counts := map[string]int64{}
	err := groupWith(ctx, &k, q, &grouping{
		by:         []groupMember{{name: "by", path: field, column: fieldSQL(field)}},
		aggregates: []groupMember{{name: "n", function: countOf}},
	}, func(found any) bool {
		r := found.(*row)
		counts[r.By] = r.N
		return true
	})
	return counts, k.Fail(err)
}

// DocumentPatch changes members of one document, if it still has its etag.
type DocumentPatch struct {
	Document
	// Sets are written, Removes taken away: at most nine of them together.
	// They are JSON pointers.
	Sets    []MemberValue
	Removes []string
}

// MemberValue is what is written at a JSON pointer.
type MemberValue struct {
	Pointer string
	Value   json.RawMessage
}

// MaxDocumentPatch is the most changes in one DocumentPatch: the service's ten
// without the one that marks the write.
const MaxDocumentPatch = MaxPatchOperations - 1

// PatchDocuments applies patches in transactional batches of one logical
// partition each, without hooks. A document that changed since it was read, or
// is gone, is passed over. It returns the ids of those that were changed.
// After [ErrAmbiguous] the caller has to look at what is there.
func (c *Collection) PatchDocuments(ctx context.Context, patches []DocumentPatch) (patched []Stub, err error) {
	stubs := make([]Stub, 0, len(patches))
	byETag := make(map[string]*DocumentPatch, len(patches))
	size := 0
	flush := func() error {
		done, err := c.change(ctx, "PatchDocuments", stubs, func(stub Stub) (Operation, Stub) { return c.patchOp(byETag[stub.ID+stub.ETag]), stub })
		patched = append(patched, done...)
		stubs, size = stubs[:0], 0
		return err
	}
	for i := range patches {
		p := &patches[i]
		more := p.size()
		if size > 0 && size+more > maxPatchedBytes {
			if err := flush(); err != nil {
				return patched, err
			}
		}
		size += more
		stubs = append(stubs, Stub{ID: p.ID, ETag: p.ETag, Key: p.Key})
		byETag[p.ID+p.ETag] = p
	}
	return patched, flush()
}

// maxPatchedBytes keeps patches that carry large values within a batch's 2 MB.
const maxPatchedBytes = 1_500_000

func (p *DocumentPatch) size() int {
	n := len(p.ID) + operationOverhead*(1+len(p.Removes))
	for _, set := range p.Sets {
		n += len(set.Value) + len(set.Pointer) + operationOverhead
	}
	return n
}

// patch are the changes without the mark of the write.
func (p *DocumentPatch) patch() cosmos.Patch {
	var ops cosmos.Patch
	for _, set := range p.Sets {
		ops.Set(set.Pointer, set.Value)
	}
	for _, pointer := range p.Removes {
		ops.Remove(pointer)
	}
	return ops
}

func (c *Collection) patchOp(p *DocumentPatch) Operation {
	op := Operation{Kind: OpPatch, ID: p.ID, ETag: p.ETag, Mark: c.Mark()}
	ops := p.patch()
	ops.Set("/"+markField, op.Mark)
	op.Patch = ops
	return op
}

// Saw takes over the service's session token of an answer that did not come
// through the repository, so that what is read from now on is at least as new.
func (c *Collection) Saw(sessionToken string) {
	c.sessions.note(http.Header{"X-Ms-Session-Token": {sessionToken}})
}

// SessionToken is [Repository.SessionToken].
func (c *Collection) SessionToken() string { return c.sessionToken() }

// EncodeValue and DecodeValue turn values into JSON and back by the rules of
// stored documents.
func EncodeValue(v any) ([]byte, error) { return codec.Encode(v) }

// DecodeValue fills v from JSON; see [EncodeValue]. The error never quotes it.
func DecodeValue(data []byte, v any) error { return codec.Decode(data, v) }

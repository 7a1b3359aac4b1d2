package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	documents "github.com/cosmosgrove/grove/internal/document"
)

// Document is what was read of a stored document: who it is, and the members that a
// [Projection] names. A member of another type, which another writer may have put
// there, counts as missing.
type Document struct {
	ID   string `json:"id"`
	ETag string `json:"etag"`
	// Key are the values of all levels of the partition key.
	Key []any `json:"key"`
	// EntityType is empty in a document that has none, and where a query reads one entity type.
	EntityType string `json:"type,omitempty"`
	// DeletedAt is the stored text; empty in a document that was not deleted.
	DeletedAt string `json:"deletedAt,omitempty"`

	// ParentID is set in children. ParentKey are the fields that name the parent beside it,
	// by their paths; see [Collection.SetParentFields].
	ParentID  string         `json:"parent,omitempty"`
	ParentKey map[string]any `json:"parentKey,omitempty"`
	// TTL is the document's own, in seconds; 0 is none.
	TTL int `json:"ttl,omitempty"`
	// Journal is that of a delete under way, else nil.
	Journal *Journal `json:"deletion,omitempty"`
	// Moving is the parent that a child comes from while it moves; see [MovingField].
	Moving string `json:"moving,omitempty"`
	// Moved are the document's former references, see [MovedField].
	Moved map[string][]string `json:"moved,omitempty"`
	// ReadAt is the service's time at the answer that the outline was read from, in
	// Unix seconds; 0 where it did not say.
	ReadAt int64 `json:"-"`
	// CreatedBy is the mark of the create that has made the document, as far as its marks tell; empty after an upsert. Only a
	// point read knows.
	CreatedBy string `json:"-"`

	// Fields are top-level members by name. A missing member is not in it.
	Fields map[string]json.RawMessage `json:"fields,omitempty"`

	saysType bool // the row has an entity type, be it one that is no text
}

// Projection says which members of documents are read.
type Projection struct {
	outline bool
	types   bool
	fields  []string
}

// Outline is the projection of what deletes and moves go by: ParentID to Moved of a
// [Document].
func Outline() Projection { return Projection{outline: true} }

// Fields is the projection of top-level members.
func Fields(names ...string) Projection { return Projection{fields: names} }

// sql is the projection in a query, whatever the key's levels are.
func (p Projection) sql(c *Collection) string {
	var b strings.Builder
	b.WriteString("SELECT VALUE {")
	if p.types {
		b.WriteString(`"type": c["` + entityField + `"], `)
	}
	b.WriteString(`"id": c["id"], "etag": c["_etag"], "deletedAt": c["deletedAt"], "key": [` + c.outlineKeySQL() + "]")
	if p.outline {
		b.WriteString(`, "parent": c["parentId"], "ttl": c["ttl"], "deletion": c["` + JournalField + `"], "moving": c["` + MovingField + `"], "moved": c["` + MovedField + `"]`)
		b.WriteString(c.parentKeySQL())
	} else {
		b.WriteString(`, "fields": {`)
		for i, name := range p.fields {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q: c[%q]", name, name)
		}
		b.WriteByte('}')
	}
	b.WriteString("} FROM " + RootAlias)
	return b.String()
}

// UnmarshalJSON reads a row of a [Projection].
func (d *Document) UnmarshalJSON(raw []byte) error {
	documents.ReadMembers(raw, map[string]any{
		"id": &d.ID, "etag": &d.ETag, "key": &d.Key, "type": &d.EntityType, "deletedAt": &d.DeletedAt,
		"parent": &d.ParentID, "parentKey": &d.ParentKey, "ttl": &d.TTL, "deletion": &d.Journal, "moving": &d.Moving, "moved": &d.Moved,
	})
	d.ParentKey = scalars(d.ParentKey)
	codec.Members(raw, func(name string, value []byte) {
		switch name {
		case "fields":
			d.Fields = fieldsOf(value)
		case "type":
			d.saysType = true
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
	return c.ReadForm(raw)
}

// ReadForm is ReadDocument of a document in Grove's form, as [Write.Before] is: a layout that
// is undone twice loses members.
func (c *Collection) ReadForm(raw []byte) (d Document, tenant string, err error) {
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

// readOutline takes a whole document apart under the projection [Outline].
func (c *Collection) readOutline(raw []byte) (d Document, tenant string) {
	var marks []string
	documents.ReadMembers(raw, map[string]any{
		marksField: &marks, "id": &d.ID, tenantField: &tenant, entityField: &d.EntityType, "_etag": &d.ETag, "ttl": &d.TTL,
		"parentId": &d.ParentID, "deletedAt": &d.DeletedAt, JournalField: &d.Journal, MovingField: &d.Moving, MovedField: &d.Moved,
	})
	d.ParentKey = c.parentKeyOf(raw)
	if i := slices.IndexFunc(marks, func(mark string) bool { return strings.HasPrefix(mark, CreatedRoot) }); i >= 0 {
		d.CreatedBy = marks[i]
	}
	return d, tenant
}

// EncodeValue and DecodeValue turn values into JSON and back by the rules of
// stored documents.
func EncodeValue(v any) ([]byte, error) { return codec.Encode(v) }

// DecodeValue fills v from JSON; see [EncodeValue]. The error never quotes it.
func DecodeValue(data []byte, v any) error { return codec.Decode(data, v) }

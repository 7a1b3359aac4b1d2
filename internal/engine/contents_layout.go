package engine

import (
	"bytes"

	"github.com/cosmosgrove/grove/internal/codec"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/layout"
)

// HeaderOf reads the header of a stored document by the names of the container,
// which all its entity types share.
func (c *Contents) HeaderOf(raw []byte) documents.Header { return readHeader(c.FormOf(raw)) }

// FormOf is [Collection.FormOf] for a document of whatever entity type.
func (c *Contents) FormOf(raw []byte) []byte { return c.core.FormOf(raw) }

// FormOf returns a stored document in Grove's form, a misplaced one too.
func (c *Collection) FormOf(raw []byte) []byte {
	if c.layout != nil {
		raw, _ = c.layout.Canonical(raw)
	}
	return raw
}

// IsUnderTenant reports whether a partition key, a JSON array, is one of the tenant's. Where the key does not
// hold the tenant nothing tells, and none is.
func (c *Contents) IsUnderTenant(key []byte, tenant string) bool {
	var values []any
	if codec.Decode(key, &values) != nil || len(values) != len(c.core.levels) {
		return false
	}
	at := c.core.Resolve(c.core.entityType, tenant, nil)
	says := false
	for i, level := range c.core.levels {
		if level.source.Kind != layout.FromTenant {
			continue
		}
		if at.Err != nil || i >= len(at.Values) || values[i] != at.Values[i] {
			return false
		}
		says = true
	}
	return says
}

// SaysType reports whether a stored document has an entity type by the names of
// the container. One that has none may be of the entity type that takes those.
func (c *Contents) SaysType(raw []byte) bool {
	if c.core.layout.Typeless() {
		return false
	}
	says, name := false, c.core.layout.Path([]string{layout.EntityType})[0]
	codec.Members(raw, func(member string, _ []byte) { says = says || member == name })
	return says
}

// UnderTenant is [Collection.UnderTenant] for a document of an entity type that
// is not registered.
func (c *Contents) UnderTenant(raw []byte, tenant string) ([]byte, error) {
	return c.core.UnderTenant(raw, tenant)
}

// UnderTenant gives a stored document to another tenant, with the levels of the
// key that are made of the tenant.
func (c *Collection) UnderTenant(raw []byte, tenant string) ([]byte, error) {
	doc, err := c.canonical(raw)
	if err != nil {
		return nil, err
	}
	if doc, err = codec.Without(doc, []string{layout.Tenant}); err != nil {
		return nil, err
	}
	name, err := codec.Encode(tenant)
	if err != nil {
		return nil, err
	}
	rest := bytes.TrimSpace(doc)
	out := append([]byte(`{"`+layout.Tenant+`":`), name...)
	if inner := bytes.TrimSpace(rest[1:]); inner[0] != '}' {
		out = append(out, ',')
	}
	return c.layout.Stored(append(out, rest[1:]...))
}

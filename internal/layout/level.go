package layout

import (
	"fmt"
	"strings"
)

// SourceKind says what fills a level of a partition key. The values come from a
// scope in Resolve of engine/partition_key.go, and from an entity or its id in
// engine/locate.go.
type SourceKind uint8

// What fills a level of a partition key.
const (
	// FromTenant and FromType are the tenant's id and the entity type.
	FromTenant SourceKind = iota + 1
	FromType
	// FromField is a field of the entity; the field "id" is the stored id.
	FromField
	// Constant is the same for all documents.
	Constant
	// Computed comes from several fields.
	Computed
)

// Source says what fills a level of a partition key.
type Source struct {
	Kind SourceKind
	// Field is the canonical path of FromField, names joined by dots.
	Field string
	// Value is that of a Constant: a string, a float64 or a bool.
	Value any
	// Fields and Compute are those of Computed.
	Fields  []string
	Compute func(values []any) (any, error)
}

// member is the canonical member that a source is; nil for none.
func (s Source) member() []string {
	switch s.Kind {
	case FromTenant:
		return []string{Tenant}
	case FromType:
		return []string{EntityType}
	case FromField:
		return strings.Split(s.Field, ".")
	}
	return nil
}

// Uses returns the fields that the source looks at.
func (s Source) Uses() []string {
	switch s.Kind {
	case FromTenant:
		return []string{Tenant}
	case FromType:
		return []string{EntityType}
	case FromField:
		return []string{s.Field}
	case Computed:
		return s.Fields
	}
	return nil
}

// Level is one level of a partition key.
type Level struct {
	Path   []string // in the stored document
	Source Source
}

// String returns the path as in a container's definition.
func (l Level) String() string { return "/" + strings.Join(l.Path, "/") }

// MissingError says that a field is not there that a key is made from.
type MissingError struct{ Level, Field string }

// Error names the level and the field.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the key's %q is made from %q, which is empty", e.Level, e.Field)
}

// Value returns what fills the level, by what the canonical fields hold.
func (l Level) Value(field func(path string) (any, bool)) (any, error) {
	need := func(path string) (any, error) {
		v, ok := field(path)
		if !ok || v == nil || v == "" {
			return nil, &MissingError{Level: l.String(), Field: path}
		}
		return v, nil
	}
	switch l.Source.Kind {
	case Constant:
		return l.Source.Value, nil
	case Computed:
		values := make([]any, len(l.Source.Fields))
		for i, path := range l.Source.Fields {
			v, err := need(path)
			if err != nil {
				return nil, err
			}
			values[i] = v
		}
		return l.Source.Compute(values)
	}
	return need(l.Source.Uses()[0])
}

// Format makes a source of several fields, as fmt.Sprintf does.
func Format(format string, fields ...string) Source {
	return Source{Kind: Computed, Fields: fields, Compute: func(values []any) (any, error) {
		text := fmt.Sprintf(format, values...)
		if strings.Contains(text, "%!") {
			return nil, fmt.Errorf("the format of a key does not fit its fields")
		}
		return text, nil
	}}
}

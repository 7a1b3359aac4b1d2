package denorm

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// member is a species that takes part in declarations.
type member struct {
	species *registry.Species
	docs    *repository.Species // set when the database is opened

	// groups are the copies that documents of the species hold.
	groups []*group
	// tracked are references that somebody counts, so that a document which
	// gets another one has to leave the old one behind.
	tracked []*tenantitem.Field
	// kept are the members that are computed, and start empty.
	kept []*tenantitem.Field
	// follows are the links whose changes here are wishes for the other side.
	follows []*link
	// lists are the links of which this species holds either side.
	lists []listed

	// near are the members that a transaction looks at; leads says that others
	// may have to change with documents of this species.
	near  []string
	leads bool

	own     []rule // keep members of this species
	outward []rule // keep members of others, by documents of this species
}

// listed is one side of a link, as its holder sees it.
type listed struct {
	field *tenantitem.Field
	other *member
}

func (m *member) name() string { return m.species.EntityType }

// rule keeps some members of one species true, by documents of another. Its
// check computes them anew from what is stored, so that it does not matter how
// often, or in which order, changes are seen.
type rule interface {
	// holder is the species whose documents are kept.
	holder() *member
	// fields are the top-level members of the holder that check looks at.
	fields() []string
	// check compares documents of the holder with what they should hold. What
	// it compares with must be read after the documents were: then, whoever
	// writes an older value over a newer one writes it over a document that
	// has changed since, and the condition on the etag refuses it. strict says
	// that a document which can't be seen is gone; without it only one that
	// is marked as deleted is.
	check(ctx context.Context, tenant string, docs []repository.Document, strict bool) ([]finding, error)
	// affected finds the holder's documents that may have to change because
	// these documents of a species did.
	affected(ctx context.Context, tenant string, by *member, changed []repository.Document, yield func([]repository.Document) error) error
}

// finding is a member that does not hold what it should.
type finding struct {
	doc        repository.Document
	field      string // path of the field
	pointer    string
	have, want json.RawMessage
	// filling says that the member never held anything.
	filling bool
}

// keyOfRef returns what a reference tells of where the documents lie that hold
// it: as many values as In takes, in order.
func (m *member) keyOfRef(refPath, id string) []any {
	var key []any
	for i, path := range m.docs.KeyPaths() {
		switch {
		case i == 0 || path == "/entityType":
		case pathOf(path) == refPath:
			key = append(key, id)
		default:
			return key
		}
	}
	return key
}

// keyOf returns the values that In takes for one entity, from its fields.
func (m *member) keyOf(entity reflect.Value) []any {
	var key []any
	for i, path := range m.docs.KeyPaths() {
		if i == 0 || path == "/entityType" {
			continue
		}
		field, ok := m.species.Model.Field(pathOf(path))
		if !ok {
			return key
		}
		value, ok := field.Value(entity)
		if !ok {
			return key
		}
		key = append(key, value.Interface())
	}
	return key
}

// isKey reports whether a field is a level of the partition key.
func (m *member) isKey(f *tenantitem.Field) bool {
	return slices.ContainsFunc(m.species.PartitionKey, func(path string) bool { return pathOf(path) == f.Path })
}

// pathOf turns a key's path, "/address/city", into a field's.
func pathOf(keyPath string) string {
	return string(bytes.ReplaceAll([]byte(keyPath[1:]), []byte("/"), []byte(".")))
}

// sameValue compares two JSON values as the field's Go type sees them; nothing
// there, null, the type's zero value and an empty list are the same.
func sameValue(t reflect.Type, a, b json.RawMessage) (bool, error) {
	if bytes.Equal(a, b) {
		return true, nil
	}
	first, err := canonical(t, a)
	if err != nil {
		return false, err
	}
	second, err := canonical(t, b)
	return bytes.Equal(first, second), err
}

// canonical writes a value as an entity with that field would store it.
func canonical(t reflect.Type, raw json.RawMessage) (json.RawMessage, error) {
	v := reflect.New(t)
	if raw != nil {
		if err := repository.DecodeValue(raw, v.Interface()); err != nil {
			return nil, err
		}
	}
	if elem := v.Elem(); (elem.Kind() == reflect.Slice || elem.Kind() == reflect.Map) && elem.Len() == 0 {
		return json.RawMessage("null"), nil
	}
	return repository.EncodeValue(v.Interface())
}

// refsIn returns the references that a stored document holds in a field: one,
// or all of an array.
func refsIn(fields map[string]json.RawMessage, f *tenantitem.Field) []string {
	raw := memberAt(fields, f.Path)
	if raw == nil {
		return nil
	}
	if f.Kind == tenantitem.KindArray {
		var many []string
		if repository.DecodeValue(raw, &many) != nil {
			return nil
		}
		return many
	}
	var one string
	if repository.DecodeValue(raw, &one) != nil || one == "" {
		return nil
	}
	return []string{one}
}

// refsOf returns the references that an entity holds in a field.
func refsOf(entity reflect.Value, f *tenantitem.Field) []string {
	v, ok := f.Value(entity)
	if !ok {
		return nil
	}
	if f.Kind != tenantitem.KindArray {
		if v.String() == "" {
			return nil
		}
		return []string{v.String()}
	}
	out := make([]string, 0, v.Len())
	for i := range v.Len() {
		if id := v.Index(i).String(); id != "" {
			out = append(out, id)
		}
	}
	return out
}

// distinct sorts ids and drops what occurs twice.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// validIDs drops what can't be an id of a document: nothing can be found by it.
func validIDs(ids []string) []string {
	return slices.DeleteFunc(distinct(ids), func(id string) bool { return tenantitem.ValidateID(id) != nil })
}

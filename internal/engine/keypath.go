package engine

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

const (
	tenantField = "tenantId"
	entityField = "entityType"
)

// DefaultPartitionKey is the hierarchical key of a container that names none:
// all documents of one entity type and one tenant share a logical partition.
func DefaultPartitionKey() []string { return []string{"/" + tenantField, "/" + entityField} }

// keyLevel is one level of a container's partition key as an entity fills it.
type keyLevel struct {
	path   string            // as in the container's definition, "/address/city"
	field  *tenantitem.Field // where the entity holds it; nil where no field does
	source layout.Source
	stored *layout.Level // where the entity has a layout
}

func (l keyLevel) isEntityType() bool { return l.source.Kind == layout.FromType }

// keyLevels matches a container's paths with the fields of an entity.
func keyLevels(model *tenantitem.Model, paths []string) ([]keyLevel, error) {
	fail := func(reason, hint string) error {
		return &tenantitem.InvalidError{What: "partition key of " + model.Name, Reason: reason, Hint: hint}
	}
	if len(paths) == 0 || len(paths) > tenantitem.MaxKeyLevels {
		return nil, fail(fmt.Sprintf("%d levels", len(paths)), "use 1 to 3 paths")
	}
	if paths[0] != "/"+tenantField {
		return nil, fail(fmt.Sprintf("its first level is %q", paths[0]), `make "/tenantId" the first level, which keeps tenants apart, or say in a Layout what fills the key`)
	}
	levels := make([]keyLevel, 0, len(paths))
	for _, path := range paths {
		name := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
		field, ok := model.Field(name)
		if !ok || !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("partition key path %q: %w", path, model.UnknownField(name))
		}
		switch field.Kind {
		case tenantitem.KindString, tenantitem.KindNumber, tenantitem.KindBool:
		default:
			return nil, fail(fmt.Sprintf("%q is neither a string, a number nor a boolean", path), "choose a scalar field")
		}
		levels = append(levels, keyLevel{path: path, field: field, source: sourceOf(name)})
	}
	return levels, nil
}

// sourceOf is what fills a level in Grove's own form.
func sourceOf(field string) layout.Source {
	switch field {
	case tenantField:
		return layout.Source{Kind: layout.FromTenant}
	case entityField:
		return layout.Source{Kind: layout.FromType}
	}
	return layout.Source{Kind: layout.FromField, Field: field}
}

// keyValue turns a Go value into what a key level holds: string, float64 or
// bool. Named types (a Ref, an enumeration) count as what they are made from.
func keyValue(path string, v any) (any, error) {
	var out any
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.String:
		out = rv.String()
	case reflect.Bool:
		out = rv.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		out = float64(rv.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		out = float64(rv.Uint())
	case reflect.Float32, reflect.Float64:
		out = rv.Float()
	default:
		out = v
	}
	if f, ok := out.(float64); ok {
		out = codec.Whole(f) // the service knows no -0
	}
	var err error
	if path == "/"+tenantField {
		s, _ := out.(string)
		err = tenantitem.ValidateTenantID(s)
	} else {
		err = tenantitem.ValidateKeyValue(path, out)
	}
	return out, err
}

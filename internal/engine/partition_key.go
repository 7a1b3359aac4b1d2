package engine

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A partition key has 1 to 3 levels, and each takes its value from the tenant,
// the entity type or a field: keyLevels says which, keyLevel.value and KeyOf take
// it. A level that a Layout computes for each document is filled in locate.go. What In
// was given becomes a key in Resolve: with levels missing it is a prefix, which
// serves queries only (RequireFull), and an entity's own fields are filled or refused (BindKey in scope.go).
// Values are never joined to one text, so that no two keys are the same one.
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

// Resolve completes a tenant and further key values to a partition. A level
// that is the entity type is filled by the repository.
func (c *Collection) Resolve(entityType, tenant string, more []any) Partition {
	p := Partition{Tenant: tenant, Values: make([]any, 0, len(c.levels))}
	if c.layout != nil {
		if p.global, p.underTenant = c.layout.Global(), c.underTenant; p.global && tenant != "" {
			p.Err = &tenantitem.InvalidError{What: "scope", Reason: c.entityType + " belongs to no tenant", Hint: "use Global()"}
		} else if !p.global {
			p.Err = tenantitem.ValidateTenantID(tenant)
		}
		if p.Err != nil {
			return p
		}
	}
	next, size := 0, 0
	for _, level := range c.levels {
		var v any
		switch {
		case level.source.Kind == layout.FromTenant:
			v = tenant
		case level.isEntityType():
			v = entityType
		case level.source.Kind == layout.Constant:
			v = level.source.Value
		case level.isGiven() && next < len(more):
			v = more[next]
			next++
		default:
			if level.isDerived() && next < len(more) {
				p.Err = errTooManyValues(len(more), next)
			}
			p.Key = cosmos.NewPartitionKey(p.Values...)
			return p
		}
		value, err := level.value(v)
		if err != nil {
			p.Err = err
			return p
		}
		p.Values = append(p.Values, value)
		text, _ := value.(string)
		if size += len(text); size > tenantitem.MaxKeyBytes {
			p.Err = &tenantitem.InvalidError{What: "partition key", Reason: fmt.Sprintf("its values are longer than %d bytes together", tenantitem.MaxKeyBytes), Hint: "use shorter ones"}
			return p
		}
	}
	if next < len(more) {
		p.Err = errTooManyValues(len(more), next)
		return p
	}
	p.Full = true
	p.Key = cosmos.NewPartitionKey(p.Values...)
	return p
}

func errTooManyValues(given, room int) error {
	return &tenantitem.InvalidError{
		What:   "scope",
		Reason: fmt.Sprintf("%d values were given after the tenant and the key has room for %d", given, room),
		Hint:   "In takes one value for each level of the container's partition key, in order; the entity type is added by itself",
	}
}

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
		level := keyLevel{path: path, field: field, source: sourceOf(name)}
		if level.isGiven() && slices.ContainsFunc(levels, keyLevel.isDerived) {
			return nil, fail(fmt.Sprintf("%q stands behind the id, which each document fills for itself", path), "make the id the last level")
		}
		levels = append(levels, level)
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

// value turns a Go value into what this level holds: string, float64 or bool.
// Named types (a Ref, an enumeration) count as what they are made from. A value
// that the entity's field can't hold is refused: no document has it.
func (l keyLevel) value(v any) (any, error) {
	refuse := func(reason, hint string) (any, error) {
		return nil, &tenantitem.InvalidError{What: "partition key value " + l.path, Reason: reason, Hint: hint}
	}
	if l.field == nil {
		out, err := keyValue(l.path, v)
		if text, _ := out.(string); err == nil && l.source.Kind == layout.FromTenant {
			err = tenantitem.ValidateTenantID(text)
		}
		return out, err
	}
	rv := reflect.ValueOf(v)
	if l.field.Quoted {
		// The document holds the text of the number or boolean.
		if rv.IsValid() && rv.Kind() != reflect.String {
			v = fmt.Sprint(v)
		}
		text, err := keyValue(l.path, v)
		if err != nil {
			return nil, err
		}
		if s, _ := text.(string); l.field.Type.Kind() == reflect.String || codec.Decode([]byte(s), reflect.New(l.field.Type).Interface()) != nil {
			return refuse("it does not fit the field, which is a "+l.field.Type.String()+" stored as text", "give a value of the field's type")
		}
		return text, nil
	}
	if rv.IsValid() && (rv.CanInt() || rv.CanUint()) {
		if n, ok := wholeOf(rv); !ok || n > codec.MaxInteger || n < -codec.MaxInteger {
			return refuse("an integer lies beyond 2^53, where two numbers are one partition", `store it as text: with the tag option json:",string", or in a string`)
		}
	}
	out, err := keyValue(l.path, v)
	if err != nil {
		return nil, err
	}
	if !fitsField(l.field.Type, out) {
		return refuse("it does not fit the field, which is a "+l.field.Type.String(), "give a value of the field's type")
	}
	return out, nil
}

func wholeOf(v reflect.Value) (int64, bool) {
	if v.CanInt() {
		return v.Int(), true
	}
	return int64(v.Uint()), v.Uint() <= math.MaxInt64 //nolint:gosec // reported beside it
}

// fitsField reports whether a field of that type can hold a key's value.
func fitsField(t reflect.Type, v any) bool {
	field := reflect.New(t).Elem()
	switch v := v.(type) {
	case string:
		// A type may be written as text by a method of its own.
		return t.Kind() == reflect.String || !field.CanInt() && !field.CanUint() && !field.CanFloat() && t.Kind() != reflect.Bool
	case bool:
		return t.Kind() == reflect.Bool
	case float64:
		return setNumber(field, v)
	}
	return false
}

// setNumber sets a field of a number's type; false when the number is not one
// of that type.
func setNumber(field reflect.Value, f float64) bool {
	switch {
	case field.CanFloat():
		field.SetFloat(f)
		return field.Float() == f
	case f != math.Trunc(f) || math.Abs(f) > codec.MaxInteger:
		return false
	case field.CanInt():
		if field.OverflowInt(int64(f)) {
			return false
		}
		field.SetInt(int64(f))
		return true
	case field.CanUint():
		if f < 0 || field.OverflowUint(uint64(f)) {
			return false
		}
		field.SetUint(uint64(f))
		return true
	}
	return false
}

// isEmpty reports whether a key field holds nothing: false and 0 are values,
// an empty text can't be one.
func (l keyLevel) isEmpty(field reflect.Value) bool {
	return field.Kind() == reflect.String && field.Len() == 0
}

// set fills a key field.
func (l keyLevel) set(field reflect.Value, v any) error {
	switch v := v.(type) {
	case string:
		switch {
		case l.field.Quoted:
			return codec.Decode([]byte(v), field.Addr().Interface())
		case field.Kind() == reflect.String:
			field.SetString(v)
			return nil
		}
	case bool:
		if field.Kind() == reflect.Bool {
			field.SetBool(v)
			return nil
		}
	case float64:
		if setNumber(field, v) {
			return nil
		}
	}
	return fmt.Errorf("a %T does not fit a %s", v, field.Type())
}

// KeyText is a key's values as one comparable text: no two keys have the same,
// whatever another writer has put into them.
func KeyText(values []any) string {
	var b strings.Builder
	for _, v := range values {
		if text, ok := v.(string); ok {
			b.WriteString("string:")
			b.WriteString(strings.ReplaceAll(text, "\x00", "\x00\x01"))
		} else {
			fmt.Fprintf(&b, "%T:%v", v, v)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// CompleteKey returns the values that complete a prefix of the key, from the
// entity's fields, as In takes them.
func (c *Collection) CompleteKey(entity reflect.Value, prefix []any) ([]any, error) {
	more := c.Given(prefix)
	for i, level := range c.levels {
		if i < len(prefix) || !level.isGiven() {
			continue
		}
		field, ok := level.field.Value(entity)
		if !ok || level.isEmpty(field) {
			return nil, &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("its key field %q is empty", level.path), Hint: "fill it, or name its value in In(...)"}
		}
		more = append(more, field.Interface())
	}
	return more, nil
}

// isGiven reports whether In takes a value for the level.
func (l keyLevel) isGiven() bool {
	return l.source.Kind == layout.FromField && l.source.Field != "id"
}

// isDerived reports whether each document fills the level for itself.
func (l keyLevel) isDerived() bool {
	return l.source.Kind == layout.Computed || l.source.Kind == layout.FromField && l.source.Field == "id"
}

// sql is how canonical SQL names the level.
func (l keyLevel) sql() string {
	if l.stored == nil {
		return fieldSQL(l.field.Path)
	}
	return layout.LevelSQL(*l.stored)
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

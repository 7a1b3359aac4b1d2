package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Layout says how the documents of an entity stand in a container that was not
// made for Grove, see docs/layouts.md. Queries, patches, copies and deletes go
// by it; an application's own SQL names the entity's members, as ever. The zero
// value is Grove's own form.
type Layout struct {
	// Key says what fills each level of the container's key, in order. Defaults
	// to the paths themselves: the one where the tenant is stored, the one
	// where the entity type is, fields of the entity.
	Key []KeySource
	// Names are the stored names of members at the top of the document, by the
	// names that the entity and Grove have for them: {"tenantId": "tenant_id",
	// "entityType": "$type", "deletedAt": "deleted_at", "_ops": "writes"}. The
	// names of id and ttl, and of the service's own members, are fixed.
	Names map[string]string
	// IDPrefix stands before every stored id, and before none of the
	// application's: "Note|" for ids such as "Note|42". ASCII.
	IDPrefix string
	// Untyped says that documents may lack an entity type. Defaults to
	// AlwaysTyped.
	Untyped Untyped
	// Envelope is the member that holds the fields of the entity, such as
	// "value" or "properties", with the header (id, tenant, type, ttl and what
	// Grove and the service keep) outside. Outside are fields of the entity
	// that stand beside it.
	Envelope string
	Outside  []string
	// Global documents belong to no tenant; see [Repository.Global].
	Global bool
	// UnderTenant lets Global documents be read and written under a context
	// that [WithTenant] bound to a tenant. Defaults to refusing that.
	UnderTenant bool
	// NoMarks keeps the marks of writes (_ops and _op) out of the documents. A
	// write whose answer is lost is then [ErrAmbiguous] wherever its etag
	// doesn't decide.
	NoMarks bool
}

// Untyped says whether documents may lack an entity type.
type Untyped uint8

// The three kinds of container.
const (
	// AlwaysTyped: a document without the entity type is another application's.
	AlwaysTyped Untyped = iota
	// SomeUntyped: documents without a type are of this entity; those that
	// Grove writes have one.
	SomeUntyped
	// AllUntyped: nothing in the container says a type; all documents there are
	// of this entity.
	AllUntyped
)

// KeySource says what fills a level of a partition key. See [FromTenant],
// [FromEntityType], [FromField], [Constant], [Format] and [Computed].
type KeySource struct {
	source layout.Source
	err    error
}

// FromTenant fills a level with the tenant's id.
func FromTenant() KeySource { return KeySource{source: layout.Source{Kind: layout.FromTenant}} }

// FromEntityType fills a level with the entity type.
func FromEntityType() KeySource { return KeySource{source: layout.Source{Kind: layout.FromType}} }

// FromField fills a level with a field of the entity, "address.city" for a
// nested one: a text, a number or a boolean. In takes its value. The field "id"
// is the stored id, which In does not take, since each document has its own.
func FromField(path string) KeySource {
	return KeySource{source: layout.Source{Kind: layout.FromField, Field: path}}
}

// Constant fills a level with the same value in all documents: a string, a
// number or a boolean.
func Constant(value any) KeySource {
	v, err := keyValue("(constant)", value)
	return KeySource{source: layout.Source{Kind: layout.Constant, Value: v}, err: err}
}

// Format fills a level with text made of fields by fmt.Sprintf, such as
// Format("%s-%.10s", "tenantId", "createdAt") for a tenant's day: a synthetic
// key. Fields have the form in which they are stored: times are text, numbers
// are float64. None may be empty. In takes no value for it: each document's own
// fields say where it lies, and they can't change.
func Format(format string, fields ...string) KeySource {
	return KeySource{source: layout.Format(format, fields...)}
}

// Computed is [Format] by a function. Its result is a string, a number or a
// boolean, and the same whenever the fields are.
func Computed(compute func(values []any) (any, error), fields ...string) KeySource {
	return KeySource{source: layout.Source{Kind: layout.Computed, Fields: fields, Compute: func(values []any) (any, error) {
		v, err := compute(values)
		if err != nil {
			return nil, err
		}
		return keyValue("(computed)", v)
	}}}
}

// KeyFields returns the fields of the entity that the levels of a container's
// key are filled from, "tenantId" and "entityType" among them.
func (l *Layout) KeyFields(paths []string) []string {
	var fields []string
	for i, path := range paths {
		steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
		switch {
		case l == nil:
			fields = append(fields, strings.Join(steps, "."))
		case i < len(l.Key):
			fields = append(fields, l.Key[i].source.Uses()...)
		default:
			fields = append(fields, l.sourceAt(steps).Uses()...)
		}
	}
	return fields
}

// layoutOf makes the mapping of an entity, and the levels of its key. Grove's
// own form has no mapping.
func layoutOf(model *tenantitem.Model, entityType string, aliases, paths []string, l *Layout) (*layout.Layout, []keyLevel, error) {
	if l == nil {
		levels, err := keyLevels(model, paths)
		return nil, levels, err
	}
	fail := func(reason, hint string) error {
		return &tenantitem.InvalidError{What: "layout of " + model.Name, Reason: reason, Hint: hint}
	}
	if len(paths) == 0 || len(paths) > tenantitem.MaxKeyLevels {
		return nil, nil, fail(fmt.Sprintf("the key has %d levels", len(paths)), "use 1 to 3 paths")
	}
	if len(l.Key) > 0 && len(l.Key) != len(paths) {
		return nil, nil, fail(fmt.Sprintf("Key fills %d levels and the container has %d", len(l.Key), len(paths)), "name what fills each level, in order")
	}
	levels := make([]keyLevel, len(paths))
	o := layout.Options{
		EntityType: entityType, Names: l.Names, IDPrefix: l.IDPrefix, Envelope: l.Envelope, Outside: l.Outside,
		Typeless: l.Untyped == AllUntyped, TypeOptional: l.Untyped == SomeUntyped, Global: l.Global, NoMarks: l.NoMarks,
	}
	for i, path := range paths {
		level := layout.Level{Path: strings.Split(strings.TrimPrefix(path, "/"), "/")}
		if len(l.Key) > 0 {
			if l.Key[i].err != nil {
				return nil, nil, l.Key[i].err
			}
			level.Source = l.Key[i].source
		} else {
			level.Source = l.sourceAt(level.Path)
		}
		levels[i] = keyLevel{path: path, stored: &level, source: level.Source}
		o.Levels = append(o.Levels, level)
	}
	if err := checkSources(model, levels, l, aliases); err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(l.Names)), l.Outside) {
		if _, ok := model.Field(name); !ok && !strings.HasPrefix(name, "_") {
			return nil, nil, fmt.Errorf("layout of %s: %w", model.Name, model.UnknownField(name))
		}
	}
	mapping, err := layout.New(o)
	if err != nil {
		return nil, nil, fail(err.Error(), "see docs/layouts.md")
	}
	for _, name := range mapping.Occupied() {
		if f, ok := model.Field(name); ok && f.Name == name && name != tenantField && name != entityField {
			return nil, nil, fail(fmt.Sprintf("the field %q is stored where something else is", name), "give the field another json tag, or fill the key from it")
		}
	}
	if mapping.IsOwnForm() && haveOwnForm(levels) {
		own, err := keyLevels(model, paths) // nothing is mapped, so that nothing is paid for it
		return nil, own, err
	}
	return mapping, levels, nil
}

// haveOwnForm reports whether levels are filled as those of Grove's own key are.
func haveOwnForm(levels []keyLevel) bool {
	return len(levels) == 2 &&
		levels[0].path == "/"+tenantField && levels[0].source.Kind == layout.FromTenant &&
		levels[1].path == "/"+entityField && levels[1].source.Kind == layout.FromType
}

// sourceAt guesses what fills a level from its path.
func (l *Layout) sourceAt(path []string) layout.Source {
	name := func(canonical string) string {
		if to, ok := l.Names[canonical]; ok {
			return to
		}
		return canonical
	}
	if len(path) == 1 {
		switch {
		case path[0] == name(tenantField) && !l.Global:
			return layout.Source{Kind: layout.FromTenant}
		case path[0] == name(entityField) && l.Untyped != AllUntyped:
			return layout.Source{Kind: layout.FromType}
		}
	}
	if l.Envelope != "" && path[0] == l.Envelope && len(path) > 1 {
		path = path[1:]
	}
	path = slices.Clone(path)
	for canonical, to := range l.Names {
		if to == path[0] {
			path[0] = canonical
		}
	}
	return layout.Source{Kind: layout.FromField, Field: strings.Join(path, ".")}
}

// checkSources finds the fields that fill the key, and refuses what can't be.
func checkSources(model *tenantitem.Model, levels []keyLevel, l *Layout, aliases []string) error {
	fail := func(reason, hint string) error {
		return &tenantitem.InvalidError{What: "layout of " + model.Name, Reason: reason, Hint: hint}
	}
	derived := false
	for i := range levels {
		level := &levels[i]
		for _, path := range level.source.Uses() {
			f, ok := model.Field(path)
			if !ok {
				return fmt.Errorf("partition key path %q: %w", level.path, model.UnknownField(path))
			}
			switch f.Kind {
			case tenantitem.KindString, tenantitem.KindNumber, tenantitem.KindBool, tenantitem.KindTime:
			default:
				return fail(fmt.Sprintf("%q is filled from %q, which is neither a text, a number nor a boolean", level.path, path), "choose a scalar field")
			}
			if path == tenantField && l.Global {
				return fail(fmt.Sprintf("%q is filled from the tenant, and the documents belong to none", level.path), "leave Global out, or fill it from a field")
			}
			if path == entityField && level.source.Kind == layout.Computed && len(aliases) > 0 {
				return fail(fmt.Sprintf("%q is computed from the entity type, which has older names", level.path), "leave the older names out")
			}
			if level.source.Kind == layout.FromField && path != "id" {
				if level.field = f; f.Kind == tenantitem.KindTime {
					return fail(fmt.Sprintf("%q is filled from %q, which is a time", level.path, path), `use Format("%s", ...), or a text`)
				}
			}
		}
		switch {
		case level.isDerived():
			derived = true
		case derived && level.isGiven():
			return fail(fmt.Sprintf("%q is a field behind a level that each document fills for itself", level.path), "this order of levels is not supported; fill it with Computed too")
		}
		if level.source.Kind == layout.FromType && l.Untyped == AllUntyped {
			return fail(fmt.Sprintf("%q is filled from the entity type, which the documents lack", level.path), "use Constant")
		}
	}
	return nil
}

// outlineKey are the values by which outlines of documents name a partition:
// those of the key, behind the tenant where a layout may keep it elsewhere.
func (c *Collection) outlineKey(p Partition) []any {
	if c.layout == nil {
		return p.Values
	}
	return append([]any{p.Tenant}, p.Values...)
}

// outlineKeySQL is the same as SQL.
func (c *Collection) outlineKeySQL() string {
	parts := make([]string, 0, len(c.levels)+1)
	if c.layout != nil {
		parts = append(parts, c.tenantSQL())
	}
	for _, level := range c.levels {
		parts = append(parts, level.sql())
	}
	return strings.Join(parts, ", ")
}

func (c *Collection) tenantSQL() string {
	if c.layout.Global() {
		return `""`
	}
	return fieldSQL(tenantField)
}

// placeOf is the partition that an outline's key names.
func (c *Collection) placeOf(key []any) (Partition, error) {
	want := len(c.levels)
	if c.layout != nil {
		want++
	}
	if len(key) != want {
		return Partition{}, fmt.Errorf("%w: a document's outline has %d of %d key values", ErrInvalid, len(key), want)
	}
	tenant, _ := key[0].(string)
	if c.layout != nil {
		key = key[1:]
	}
	return Partition{Tenant: tenant, global: c.layout.Global(), underTenant: c.underTenant, Values: key, Full: true, Deleted: true, Key: cosmos.NewPartitionKey(key...)}, nil
}

// keyOfDocument are the values of all levels in a canonical document, as an
// outline has them.
func (c *Collection) keyOfDocument(raw []byte, tenant string) ([]any, error) {
	if c.layout != nil {
		key, err := c.layout.KeyOf(raw)
		return append([]any{tenant}, key...), err
	}
	members := fieldsOf(raw)
	key := make([]any, len(c.levels))
	for i, level := range c.levels {
		if err := codec.Decode(memberAt(members, level.field.Path), &key[i]); err != nil {
			return nil, &decodeError{err}
		}
	}
	return key, nil
}

// Writer starts a part of a statement.
func (c *Collection) Writer(params []cosmos.QueryParameter) *SQLWriter {
	return &SQLWriter{Params: params, layout: c.layout}
}

// MarkOf is a mark that a bulk made, or none where documents hold none.
func (c *Collection) MarkOf(mark string) string {
	if c.layout.NoMarks() {
		return ""
	}
	return mark
}

// Canonical returns a stored document of this entity type in Grove's form.
func (c *Collection) Canonical(raw []byte) ([]byte, error) {
	if !c.Owns(raw) {
		return nil, ErrEntityMismatch
	}
	return c.canonical(raw)
}

package engine

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A child names its parent by the id, and by fields of its own where the key of
// the parents' collection has levels that neither tenant nor id tell.

// GivenLevel is a level of a partition key that a field of the documents fills.
type GivenLevel struct {
	Field *tenantitem.Field
	// At is its place in the Key of a [Document].
	At int
}

// LevelsExceptID returns the levels of the key in which two documents of a tenant with
// one id can differ. It reports false where such a level is computed, so that no
// field alone tells it.
func (c *Collection) LevelsExceptID() (levels []GivenLevel, given bool) {
	given = true
	for i, level := range c.levels {
		switch {
		case !level.usesMoreThanID():
		case level.isGiven():
			levels = append(levels, GivenLevel{level.field, i + c.tenantsBefore()})
		default:
			given = false
		}
	}
	return levels, given
}

// IDIsUnique reports whether an id can stand in one partition of a tenant only.
func (c *Collection) IDIsUnique() bool {
	levels, given := c.LevelsExceptID()
	return given && len(levels) == 0
}

func (l keyLevel) usesMoreThanID() bool {
	for _, field := range l.source.Uses() {
		if field != tenantField && field != entityField && field != "id" {
			return true
		}
	}
	return false
}

// ValuesExceptID returns the values of [Collection.LevelsExceptID] that a scope's further
// key values name, by the paths of their fields.
func (c *Collection) ValuesExceptID(tenant string, key []any) (map[string]any, error) {
	at := c.in(tenant, key)
	if at.Err != nil {
		return nil, at.Err
	}
	values := map[string]any{}
	levels, _ := c.LevelsExceptID()
	for _, level := range levels {
		if i := level.At - c.tenantsBefore(); i < len(at.Values) {
			values[level.Field.Path] = at.Values[i]
		}
	}
	return values, nil
}

// SetParentFields names the fields in which the documents name their parent beside
// parentId. Outlines have them, as ParentKey.
func (c *Collection) SetParentFields(fields []*tenantitem.Field) { c.parentFields = fields }

// ParentFields returns what [Collection.SetParentFields] was given.
func (c *Collection) ParentFields() []*tenantitem.Field { return c.parentFields }

// parentKeySQL is the part of an outline's projection that reads the fields.
func (c *Collection) parentKeySQL() string {
	if len(c.parentFields) == 0 {
		return ""
	}
	members := make([]string, len(c.parentFields))
	for i, f := range c.parentFields {
		members[i] = fmt.Sprintf("%q: %s", f.Path, fieldSQL(f.Path))
	}
	return `, "parentKey": {` + strings.Join(members, ", ") + "}"
}

// parentKeyOf reads the fields of a whole document; nil without any.
func (c *Collection) parentKeyOf(raw []byte) map[string]any {
	if len(c.parentFields) == 0 {
		return nil
	}
	key, members := map[string]any{}, fieldsOf(raw)
	for _, f := range c.parentFields {
		var value any
		if codec.Decode(memberAt(members, f.Path), &value) == nil {
			key[f.Path] = value
		}
	}
	return scalars(key)
}

// scalars leaves out what no key can hold, which another writer may have put there.
func scalars(key map[string]any) map[string]any {
	maps.DeleteFunc(key, func(_ string, value any) bool {
		switch value.(type) {
		case string, float64, bool:
			return false
		}
		return true
	})
	return key
}

// parentChanges are the fields in which an outline names another parent than before; nil
// is a value that goes.
func parentChanges(old, next Document) map[string]any {
	changes := map[string]any{}
	if old.ParentID != next.ParentID {
		changes["parentId"] = next.ParentID
	}
	for path, value := range next.ParentKey {
		if old.ParentKey[path] != value {
			changes[path] = value
		}
	}
	for path, value := range old.ParentKey {
		if next.ParentKey[path] == nil && value != nil {
			changes[path] = nil
		}
	}
	return changes
}

// ValueOf returns a field of an entity, a pointer to the repository's type, in the form in which
// it is stored: a text, a float64 or a bool. It reports false where there is none.
func (c *Collection) ValueOf(entity any, f *tenantitem.Field) (any, bool) {
	return c.fieldsOfEntity(reflect.ValueOf(entity).Elem())(f.Path)
}

// SetValue fills a field of an entity with what [Collection.ValueOf] returns.
func SetValue(entity any, f *tenantitem.Field, value any) error {
	field, ok := f.Value(reflect.ValueOf(entity).Elem())
	if !ok {
		return &tenantitem.InvalidError{What: "entity", Reason: fmt.Sprintf("a nil pointer stands before its field %q", f.Path), Hint: "fill it"}
	}
	raw, err := codec.Encode(value)
	if err != nil {
		return err
	}
	return codec.Decode(raw, field.Addr().Interface())
}

// IsEmpty reports whether a field of an entity holds its type's zero value.
func IsEmpty(entity any, f *tenantitem.Field) bool {
	field, ok := f.Value(reflect.ValueOf(entity).Elem())
	return !ok || field.IsZero()
}

// Stores reports whether every document of the entity type has the field, also
// where it holds its type's zero value: no pointer stands in its way, and a zero
// number or false is not left out.
func (c *Collection) Stores(f *tenantitem.Field) bool {
	entity := reflect.New(c.model.Type)
	if _, ok := f.Value(entity.Elem()); !ok {
		return false
	}
	raw, err := codec.Encode(entity.Interface())
	return err == nil && (f.Kind == tenantitem.KindString || string(memberAt(fieldsOf(raw), f.Path)) != "null")
}

package parented

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A parent is its whole key. A child names it by the id, and where the key of the
// parents' container has levels that tenant and id don't tell (/tenantId,/city), by
// fields of its own with the same names: shop 1 in Bonn and shop 1 in Rome are two
// parents, and the city of a review says whose it is.

// parentLevel is a level of the parents' key that a field of the child names.
type parentLevel struct {
	field *tenantitem.Field // of the child
	at    int               // in the Key of a parent's outline
}

// parentLevelsOf returns the levels that children have to name beside the id: none where
// the id is enough, or is said to be. It fails where the children lack a field for one.
func parentLevelsOf(child, parents *engine.Collection, unique bool) ([]parentLevel, error) {
	if unique {
		return nil, nil
	}
	given, all := parents.LevelsExceptID()
	if !all || len(given) > 0 && len(given) < len(parents.GivenFields()) {
		return nil, errDuplicateParents(child.EntityType(), parents.EntityType(), "", "")
	}
	var levels []parentLevel
	for _, level := range given {
		if level.Field.Path == parentField || level.Field.Path == "parentEntityType" {
			return nil, errDuplicateParents(child.EntityType(), parents.EntityType(), fmt.Sprintf("its %s is about its own parent", level.Field.Path), "")
		}
		field, ok := child.Model().Field(level.Field.Path)
		if why := whyNoLevel(child, field, ok, level.Field); why != "" {
			return nil, errDuplicateParents(child.EntityType(), parents.EntityType(), why, fmt.Sprintf("give %s a field %q of type %s as the key of its parents has, stored always (no omitempty, no pointer)", child.EntityType(), level.Field.Path, level.Field.Type))
		}
		levels = append(levels, parentLevel{field, level.At})
	}
	return levels, nil
}

// whyNoLevel says why a field of the child does not name a level of the parents' key; "" if it does.
func whyNoLevel(child *engine.Collection, field *tenantitem.Field, ok bool, of *tenantitem.Field) string {
	switch {
	case !ok:
		return fmt.Sprintf("it has no field %q", of.Path)
	case field.Copy != nil:
		return fmt.Sprintf("its field %q is a copy", of.Path)
	case !sameForm(field, of):
		return fmt.Sprintf("its field %q is of type %s, and the key's is %s", of.Path, field.Type, of.Type)
	case !child.Stores(field):
		return fmt.Sprintf("its field %q is not stored always", of.Path)
	}
	return ""
}

// sameForm reports whether two fields store one value as the same text, number or boolean.
func sameForm(a, b *tenantitem.Field) bool {
	switch a.Kind {
	case tenantitem.KindString, tenantitem.KindNumber, tenantitem.KindBool:
	default:
		return false
	}
	if a.Kind != b.Kind || a.Quoted || b.Quoted {
		return false
	}
	// A named text, such as a tenantitem.Ref, is stored as any other; a type with a form of its
	// own is not.
	return a.Type == b.Type || a.Type.Kind() == b.Type.Kind() && !hasOwnForm(a.Type) && !hasOwnForm(b.Type)
}

// parentRef names one parent.
type parentRef struct {
	id     string
	levels []any // those of the relation, in its order; nil for one that is not known
}

// refTo names a parent as its children do.
func (r *relation) refTo(parent engine.Document) parentRef {
	ref := parentRef{id: parent.ID}
	for _, level := range r.levels {
		var value any
		if level.at < len(parent.Key) {
			value = parent.Key[level.at]
		}
		ref.levels = append(ref.levels, level.value(value))
	}
	return ref
}

// namedBy is the parent that a stored child names.
func (r *relation) namedBy(child engine.Document) parentRef {
	ref := parentRef{id: child.ParentID}
	for _, level := range r.levels {
		ref.levels = append(ref.levels, level.value(child.ParentKey[level.field.Path]))
	}
	return ref
}

// namedByEntity is the parent that an entity of the child names.
func (r *relation) namedByEntity(child any, id string) parentRef {
	ref := parentRef{id: id}
	for _, level := range r.levels {
		value, _ := r.child.ValueOf(child, level.field)
		ref.levels = append(ref.levels, level.value(value))
	}
	return ref
}

// value is nil for what no key's level of this type holds.
func (l parentLevel) value(v any) any {
	switch v := v.(type) {
	case string:
		if l.field.Kind == tenantitem.KindString && v != "" {
			return v
		}
	case float64:
		if l.field.Kind == tenantitem.KindNumber {
			return codec.Whole(v)
		}
	case bool:
		if l.field.Kind == tenantitem.KindBool {
			return v
		}
	}
	return nil
}

// whole reports whether the parent is named by its whole key.
func (p parentRef) whole() bool { return !slices.Contains(p.levels, nil) }

func (p parentRef) same(other parentRef) bool {
	return p.id == other.id && slices.Equal(p.levels, other.levels)
}

// text is the same for one parent only.
func (p parentRef) text() string {
	if len(p.levels) == 0 {
		return p.id
	}
	return engine.KeyText(append([]any{p.id}, p.levels...))
}

// setParent gives an outline of a child another parent.
func (r *relation) setParent(child engine.Document, parent parentRef) engine.Document {
	child.ParentID = parent.id
	if len(r.levels) == 0 {
		return child
	}
	child.ParentKey = map[string]any{}
	for i, level := range r.levels {
		if parent.levels[i] != nil {
			child.ParentKey[level.field.Path] = parent.levels[i]
		}
	}
	return child
}

// moveMark is the parent as one text, which a child keeps while it moves; "" for none.
func (r *relation) moveMark(parent parentRef) string {
	if len(r.levels) == 0 || parent.id == "" {
		return parent.id
	}
	raw, err := engine.EncodeValue(append([]any{parent.id}, parent.levels...))
	if err != nil {
		return parent.id // values of keys are encoded always
	}
	return string(raw)
}

// parentOfMark is the parent that a mark names.
func (r *relation) parentOfMark(mark string) parentRef {
	ref := parentRef{id: mark, levels: make([]any, len(r.levels))}
	var values []any
	if len(r.levels) == 0 || engine.DecodeValue([]byte(mark), &values) != nil || len(values) != 1+len(r.levels) {
		return ref
	}
	ref.id, _ = values[0].(string)
	copy(ref.levels, values[1:])
	return ref
}

// childKey are the values that a parent tells of its children's key, as In takes them.
func (r *relation) childKey(parent parentRef) []any {
	return r.keyFrom(r.child.GivenFields(), parent)
}

// parentKey are the values that a child tells of its parent's key, as In takes them.
func (r *relation) parentKey(parent parentRef) []any {
	return r.keyFrom(r.parent.GivenFields(), parent)
}

func (r *relation) keyFrom(fields []string, parent parentRef) []any {
	var key []any
	for _, path := range fields {
		i := slices.IndexFunc(r.levels, func(l parentLevel) bool { return l.field.Path == path })
		switch {
		case i >= 0 && parent.levels[i] != nil:
			key = append(key, parent.levels[i])
		case path == parentField:
			key = append(key, parent.id)
		default:
			return key
		}
	}
	return key
}

// sameKey are the conditions on children whose own key a parent does not contradict.
func (r *relation) sameKey(parent parentRef) (all []engine.Predicate) {
	own := r.child.GivenFields()
	for i, level := range r.levels {
		if slices.Contains(own, level.field.Path) {
			all = append(all, engine.Eq(level.field.Path, parent.levels[i]))
		}
	}
	return all
}

// errNoObject refuses the move of a child that may lack the objects around the fields that name its
// parent: a patch adds fields to an object, and no object around them. It is nil where there are none.
func (r *relation) errNoObject(from parentRef) error {
	for i, level := range r.levels {
		if from.levels[i] == nil && strings.Contains(level.field.Path, ".") {
			return &tenantitem.InvalidError{
				What:   "child " + r.child.EntityType(),
				Reason: fmt.Sprintf("its %s is missing, and the object around it may be", level.field.Path),
				Hint:   fmt.Sprintf("fill %s with that of the parent, and write the whole child (Mutate, Replace)", level.field.Path),
			}
		}
	}
	return nil
}

// childrenOf is the condition on the children of some parents.
func (r *relation) childrenOf(parents []parentRef) engine.Predicate {
	return r.named(parentField, parents)
}

// parentsOf is the condition on the parents themselves.
func (r *relation) parentsOf(parents []parentRef) engine.Predicate { return r.named("id", parents) }

func (r *relation) named(idField string, parents []parentRef) engine.Predicate {
	var some []engine.Predicate
	for _, group := range groupByLevels(parents) {
		ids := make([]any, len(group))
		for i, parent := range group {
			ids[i] = parent.id
		}
		all := []engine.Predicate{engine.In(idField, ids...)}
		for i, level := range r.levels {
			all = append(all, engine.Eq(level.field.Path, group[0].levels[i]))
		}
		some = append(some, allOf(all))
	}
	if len(some) == 1 {
		return some[0]
	}
	return engine.Or(some...)
}

func allOf(all []engine.Predicate) engine.Predicate {
	if len(all) == 1 {
		return all[0]
	}
	return engine.And(all...)
}

// groupByLevels puts parents together that differ in their ids alone. What is not named by its
// whole key is nobody's parent, and left out.
func groupByLevels(parents []parentRef) [][]parentRef {
	var groups [][]parentRef
	index := map[string]int{}
	for _, parent := range parents {
		if !parent.whole() {
			continue
		}
		text := engine.KeyText(parent.levels)
		i, ok := index[text]
		if !ok {
			i = len(groups)
			index[text] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], parent)
	}
	return groups
}

// guardParent lets outlines of the children tell their whole parent, and keeps patches away from the
// fields that name it: a patch does not look at parents.
func guardParent(r *relation) {
	guarded := []engine.GuardedPath{guardedParent(parentField), guardedParent("parentEntityType")}
	var fields []*tenantitem.Field
	for _, level := range r.levels {
		fields, guarded = append(fields, level.field), append(guarded, guardedParent(level.field.Path))
	}
	if len(fields) > 0 {
		r.child.SetParentFields(fields)
	}
	r.child.GuardPaths(guarded...)
}

func guardedParent(path string) engine.GuardedPath {
	return engine.GuardedPath{Path: path, Reason: "it names the parent", Hint: "use Move"}
}

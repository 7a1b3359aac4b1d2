package denorm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// schema is what the tags and the declarations amount to.
type schema struct {
	entityTypes []*entityType // sorted by entity type
	byType      map[reflect.Type]*entityType
	rules       []rule
	// transactionRules are the rules that take part in transactions.
	transactionRules []transactionRule
	// stages are the rules in the order in which Repair goes through them.
	stages []stage
	// fingerprint tells these stages from those of other declarations.
	fingerprint string
	// crossings is how often a change may go on from one container to another.
	crossings int
}

// newSchema checks tags and declarations against the catalogue.
func newSchema(entities []*catalogue.Entity, declarations []Declaration) (*schema, error) {
	s := &schema{byType: map[reflect.Type]*entityType{}}
	for _, entity := range entities {
		typ := &entityType{entity: entity}
		s.entityTypes = append(s.entityTypes, typ)
		s.byType[entity.Model.Type] = typ
	}
	for _, typ := range s.entityTypes {
		if err := s.addCopies(typ); err != nil {
			return nil, err
		}
	}
	for _, d := range declarations {
		if err := s.add(d); err != nil {
			return nil, err
		}
	}
	for _, typ := range s.entityTypes {
		if len(typ.computed) > 0 {
			typ.fillers = append(typ.fillers, computedFiller{typ})
		}
		if len(typ.tracked) > 0 {
			typ.fillers = append(typ.fillers, trackedFiller{typ})
		}
	}
	for _, r := range s.rules {
		r.holder().own = append(r.holder().own, r)
	}
	return s, s.arrange()
}

func (s *schema) add(d Declaration) error {
	a, okA := s.byType[d.a]
	b, okB := s.byType[d.b]
	switch {
	case d.bind == nil:
		return refuse(d, "it was not made by this package", "use denorm.CountOf, RecentOf, LinkOf or OnDeleteOf")
	case !okA:
		return refuse(d, plainName(d.a)+" is not registered", fmt.Sprintf("add registry.Entity[%s]()", plainName(d.a)))
	case !okB:
		return refuse(d, plainName(d.b)+" is not registered", fmt.Sprintf("add registry.Entity[%s]()", plainName(d.b)))
	case a.isGlobal() != b.isGlobal():
		return refuse(d, fmt.Sprintf("%s and %s do not both belong to tenants", a.name(), b.name()), "give both a Layout that is Global, or neither")
	}
	return d.bind(s, d, a, b)
}

// claim is a field, and what keeps it.
type claim struct {
	field *tenantitem.Field
	by    fmt.Stringer
}

// claim refuses a second declaration that keeps the same field, or one inside
// it: each would write over the other for ever.
func (typ *entityType) claim(d fmt.Stringer, f *tenantitem.Field) error {
	meta, err := tenantitem.ModelOfType(reflect.TypeFor[tenantitem.Meta]())
	if err != nil {
		return err
	}
	if _, ok := meta.Field(f.Path); ok {
		return refuse(d, fmt.Sprintf("%q is kept by Grove itself", f.Path), "use a field of the application's")
	}
	for _, c := range typ.claimed {
		if f == c.field || liesIn(f, c.field) || liesIn(c.field, f) {
			return refuse(d, fmt.Sprintf("%q is kept by another declaration, %s", c.field.Path, c.by), "use a field for each")
		}
	}
	typ.claimed = append(typ.claimed, claim{f, d})
	return nil
}

// liesIn reports whether a field is a part of another.
func liesIn(inner, outer *tenantitem.Field) bool {
	rest, ok := strings.CutPrefix(inner.Path, outer.Path)
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[]."))
}

// topField finds a field that a patch can set by name.
func topField(d Declaration, typ *entityType, name string) (*tenantitem.Field, error) {
	f, ok := typ.entity.Model.Field(name)
	if !ok {
		return nil, fmt.Errorf("%s: %w", d, typ.entity.Model.UnknownField(name))
	}
	if f.Path != f.Name {
		return nil, refuse(d, fmt.Sprintf("%q lies inside another field", f.Path), "use a field of the document itself")
	}
	if typ.isKey(f) {
		return nil, refuse(d, fmt.Sprintf("%q is part of the partition key, which can't follow a change", f.Path), "use another field, or make another one the key")
	}
	return f, typ.checkPath(d, f)
}

// byDocs finds the entity type of a repository.
func (s *schema) byDocs(docs *engine.Collection) *entityType {
	i := slices.IndexFunc(s.entityTypes, func(typ *entityType) bool { return typ.docs.Same(docs) })
	if i < 0 {
		return nil
	}
	return s.entityTypes[i]
}

package denorm

import (
	"fmt"
	"reflect"
	"slices"

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

// claim keeps a second declaration from keeping the same field.
func (typ *entityType) claim(d Declaration, f *tenantitem.Field) error {
	if slices.Contains(typ.claimed, f) {
		return refuse(d, fmt.Sprintf("%q is kept by another declaration", f.Path), "use a field for each")
	}
	typ.claimed = append(typ.claimed, f)
	return nil
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
	return f, nil
}

// byDocs finds the entity type of a repository.
func (s *schema) byDocs(docs *engine.Collection) *entityType {
	i := slices.IndexFunc(s.entityTypes, func(typ *entityType) bool { return typ.docs.Same(docs) })
	if i < 0 {
		return nil
	}
	return s.entityTypes[i]
}

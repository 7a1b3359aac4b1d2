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
	members []*member // sorted by entity type
	byType  map[reflect.Type]*member
	rules   []rule
	// transactionRules are the rules that take part in transactions.
	transactionRules []transactionRule
	// stages are the rules in the order in which Repair goes through them.
	stages []stage
}

// newSchema checks tags and declarations against the catalogue.
func newSchema(entities []*catalogue.Entity, declarations []Declaration) (*schema, error) {
	s := &schema{byType: map[reflect.Type]*member{}}
	for _, entity := range entities {
		m := &member{entity: entity}
		s.members = append(s.members, m)
		s.byType[entity.Model.Type] = m
	}
	for _, m := range s.members {
		if err := s.addCopies(m); err != nil {
			return nil, err
		}
	}
	for _, d := range declarations {
		if err := s.add(d); err != nil {
			return nil, err
		}
	}
	for _, m := range s.members {
		if len(m.computed) > 0 {
			m.fillers = append(m.fillers, computedFiller{m})
		}
		if len(m.tracked) > 0 {
			m.fillers = append(m.fillers, trackedFiller{m})
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
func (m *member) claim(d Declaration, f *tenantitem.Field) error {
	if slices.Contains(m.claimed, f) {
		return refuse(d, fmt.Sprintf("%q is kept by another declaration", f.Path), "use a field for each")
	}
	m.claimed = append(m.claimed, f)
	return nil
}

// topField finds a field that a patch can set by name.
func topField(d Declaration, m *member, name string) (*tenantitem.Field, error) {
	f, ok := m.entity.Model.Field(name)
	if !ok {
		return nil, fmt.Errorf("%s: %w", d, m.entity.Model.UnknownField(name))
	}
	if f.Path != f.Name {
		return nil, refuse(d, fmt.Sprintf("%q lies inside another field", f.Path), "use a field of the document itself")
	}
	return f, nil
}

// byDocs finds the member of a repository.
func (s *schema) byDocs(docs *engine.Collection) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.docs.Same(docs) })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

package registry

import (
	"fmt"
	"maps"

	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// WithLayout registers an entity type over a container that a team already has: its
// key, the names of its members, its ids and its envelope. See docs/layouts.md.
func WithLayout(l layout.Layout) Option {
	return optionFunc(func(s *entity) error {
		s.Layout = &l
		return nil
	})
}

// checkLayout refuses an entity type that its container has no place for, and two in
// one container that would not agree about whose a document is.
func (p *Plan) checkLayout(s *entity) error {
	if s.Layout == nil {
		if s.PartitionKey[0] != "/tenantId" {
			return conflict(fmt.Sprintf("the partition key of container %q begins with %q, and %s does not say what fills it", s.Container, s.PartitionKey[0], s),
				`make "/tenantId" the first level, which keeps tenants apart, or register it with registry.WithLayout`)
		}
		for _, name := range append([]string{s.EntityType}, s.Aliases...) {
			if err := tenantitem.ValidateEntityType(name); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
	}
	for _, other := range p.entities {
		if other == s || other.Container != s.Container || len(other.PartitionKey) == 0 {
			continue
		}
		if reason := disagree(s.layoutOrDefault(), other.layoutOrDefault()); reason != "" {
			return conflict(fmt.Sprintf("%s and %s live in container %q, and %s", other, s, s.Container, reason), "give them one form there, or move one of them")
		}
	}
	return nil
}

func (s *entity) layoutOrDefault() layout.Layout {
	if s.Layout == nil {
		return layout.Layout{}
	}
	return *s.Layout
}

// untyped says whether documents without a type are of the entity type.
func (s *entity) untyped() layout.Untyped { return s.layoutOrDefault().Untyped }

// disagree says why two layouts can't share a container.
func disagree(a, b layout.Layout) string {
	stored := func(l layout.Layout, member string) string {
		if name, ok := l.Names[member]; ok {
			return name
		}
		return member
	}
	switch {
	case a.Global != b.Global:
		return "one belongs to tenants and the other does not"
	case !a.Global && stored(a, "tenantId") != stored(b, "tenantId"):
		return "they keep the tenant under different names"
	case a.Untyped == layout.AllUntyped || b.Untyped == layout.AllUntyped:
		return "the documents of one have no type by which to tell them apart"
	case stored(a, "entityType") != stored(b, "entityType"):
		return "they keep the entity type under different names"
	case a.Untyped == layout.SomeUntyped && b.Untyped == layout.SomeUntyped:
		return "documents without a type would be of both"
	case !maps.Equal(keptNames(a), keptNames(b)):
		return "they keep what Grove adds under different names"
	}
	return ""
}

// keptNames are the stored names of what Grove keeps beside an entity's fields.
func keptNames(l layout.Layout) map[string]string {
	out := map[string]string{}
	for _, member := range document.Members() {
		if member.Name[0] != '_' && member.Name != "deletedAt" {
			continue // a field of the entity
		}
		if name, ok := l.Names[member.Name]; ok && name != member.Name {
			out[member.Name] = name
		}
	}
	return out
}

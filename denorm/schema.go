package denorm

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// schema is what the tags and the declarations amount to.
type schema struct {
	members []*member // sorted by entity type
	byType  map[reflect.Type]*member
	rules   []rule
}

// newSchema checks tags and declarations against the catalogue.
func newSchema(species []*registry.Species, declarations []Declaration) (*schema, error) {
	s := &schema{byType: map[reflect.Type]*member{}}
	for _, sp := range species {
		m := &member{species: sp}
		s.members = append(s.members, m)
		s.byType[sp.Model.Type] = m
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
	for _, r := range s.rules {
		r.holder().own = append(r.holder().own, r)
	}
	return s, s.checkCycles()
}

func (s *schema) add(d Declaration) error {
	a, okA := s.byType[d.a]
	b, okB := s.byType[d.b]
	switch {
	case d.kind == 0:
		return refuse(d, "it was not made by this package", "use denorm.CountOf, RecentOf, LinkOf or OnDeleteOf")
	case !okA:
		return refuse(d, plainName(d.a)+" is not registered", fmt.Sprintf("add registry.Entity[%s]()", plainName(d.a)))
	case !okB:
		return refuse(d, plainName(d.b)+" is not registered", fmt.Sprintf("add registry.Entity[%s]()", plainName(d.b)))
	}
	switch d.kind {
	case links:
		return s.addLink(d, a, b)
	case goners:
		return s.addGone(d, a, b)
	default:
		return s.addKin(d, a, b)
	}
}

// addCopies reads the denorm tags of one species.
func (s *schema) addCopies(m *member) error {
	groups := map[*tenantitem.Field]*group{}
	for _, f := range m.species.Model.Copies() {
		tag := tagOf{m, f}
		source, ok := s.byType[f.Copy.Through.Refers]
		switch {
		case !ok:
			return refuse(tag, fmt.Sprintf("its source %s is not registered", plainName(f.Copy.Through.Refers)), fmt.Sprintf("add registry.Entity[%s]()", plainName(f.Copy.Through.Refers)))
		case f.Copy.Mode == tenantitem.Sync && m.isKey(f):
			return refuse(tag, "it is part of the partition key, which can't follow a change", "make it a snapshot, or another field the key")
		}
		if from, ok := source.species.Model.Field(f.Copy.Source); !ok || from.Array() != nil {
			return refuse(tag, fmt.Sprintf("%s of %s lies in an array", f.Copy.Source, source.name()), "copy the whole array, or a field outside it")
		}
		empty, err := canonical(f.Type, nil)
		if err != nil {
			return refuse(tag, fmt.Sprintf("a %s can't be encoded as JSON", f.Type), "use another type")
		}
		g := groups[f.Copy.Through]
		if g == nil {
			g = &group{ref: f.Copy.Through, steps: stepsOf(f.Copy.Through.Path), source: source}
			groups[f.Copy.Through] = g
			m.groups = append(m.groups, g)
		}
		c := copied{field: f, source: f.Copy.Source, empty: empty}
		if f.Copy.Mode == tenantitem.Sync {
			g.syncs = append(g.syncs, c)
		} else {
			g.snaps = append(g.snaps, c)
		}
	}
	bySource := map[*member]*copies{}
	for _, g := range m.groups {
		r := bySource[g.source]
		if r == nil {
			r = &copies{target: m, source: g.source}
			bySource[g.source] = r
			s.rules = append(s.rules, r)
			g.source.outward = append(g.source.outward, r)
		}
		r.groups = append(r.groups, g)
	}
	return nil
}

// tagOf names a tag in errors.
type tagOf struct {
	m *member
	f *tenantitem.Field
}

func (t tagOf) String() string {
	return fmt.Sprintf("the denorm tag on %q of %s", t.f.Path, t.m.species)
}

func (s *schema) addKin(d Declaration, parent, child *member) error {
	field, err := topField(d, parent, d.fieldA)
	if err != nil {
		return err
	}
	ref, err := refField(d, parent, child)
	if err != nil {
		return err
	}
	if child.expires() {
		return refuse(d, fmt.Sprintf("documents of %s expire, which nobody gets to know", child.name()), "delete them instead of letting them expire, or ask for them with a query")
	}
	if slices.Contains(parent.kept, field) {
		return refuse(d, fmt.Sprintf("%q is kept by another declaration", field.Path), "use a field for each")
	}
	r := s.relatedOf(parent, child, ref)
	switch d.kind {
	case counts:
		if field.Kind != tenantitem.KindNumber {
			return refuse(d, fmt.Sprintf("%q is a %s", field.Path, field.Type), "make it an int")
		}
		r.counts = append(r.counts, field)
	default:
		card, err := cardOf(d, field, child)
		if err != nil {
			return err
		}
		r.recents = append(r.recents, recent{field: field, n: d.n, card: card})
	}
	parent.kept = append(parent.kept, field)
	return nil
}

// relatedOf finds the rule for one reference or makes it.
func (s *schema) relatedOf(parent, child *member, ref *tenantitem.Field) *kin {
	for _, r := range s.rules {
		if k, ok := r.(*kin); ok && k.parent == parent && k.child == child && k.ref == ref {
			return k
		}
	}
	k := &kin{parent: parent, child: child, ref: ref}
	s.rules = append(s.rules, k)
	child.outward = append(child.outward, k)
	if !slices.Contains(child.tracked, ref) {
		child.tracked = append(child.tracked, ref)
	}
	return k
}

// topField finds a field that a patch can set by name.
func topField(d Declaration, m *member, name string) (*tenantitem.Field, error) {
	f, ok := m.species.Model.Field(name)
	if !ok {
		return nil, fmt.Errorf("%s: %w", d, m.species.Model.UnknownField(name))
	}
	if f.Path != f.Name {
		return nil, refuse(d, fmt.Sprintf("%q lies inside another field", f.Path), "use a field of the document itself")
	}
	return f, nil
}

// refField finds the field of the child that refers to the parent.
func refField(d Declaration, parent, child *member) (*tenantitem.Field, error) {
	parentType := parent.species.Model.Type
	if len(d.through) > 1 {
		return nil, refuse(d, "it names several reference fields", "name one")
	}
	if len(d.through) == 1 {
		f, ok := child.species.Model.Field(d.through[0])
		if !ok {
			return nil, fmt.Errorf("%s: %w", d, child.species.Model.UnknownField(d.through[0]))
		}
		if f.Refers != parentType || f.Array() != nil {
			return nil, refuse(d, fmt.Sprintf("%q of %s is not a reference to %s outside arrays of objects", f.Path, child.name(), parent.name()), fmt.Sprintf("declare it as tenantitem.Ref[%s]", plainName(parentType)))
		}
		return f, nil
	}
	var fields []*tenantitem.Field
	for _, f := range child.species.Model.References() {
		if f.Refers == parentType && f.Array() == nil {
			fields = append(fields, f)
		}
	}
	switch len(fields) {
	case 0:
		return nil, refuse(d, fmt.Sprintf("%s does not refer to %s", child.name(), parent.name()), fmt.Sprintf("give it a field of type tenantitem.Ref[%s]", plainName(parentType)))
	case 1:
		return fields[0], nil
	}
	return nil, refuse(d, fmt.Sprintf("%s refers to %s in several fields", child.name(), parent.name()), "name one of them behind n")
}

const maxRecent = 100

// cardOf returns the members of the cards in an array.
func cardOf(d Declaration, field *tenantitem.Field, child *member) ([]string, error) {
	if d.n < 1 || d.n > maxRecent {
		return nil, refuse(d, fmt.Sprintf("it asks for %d", d.n), fmt.Sprintf("ask for 1 to %d", maxRecent))
	}
	elem := field.Type
	if field.Kind == tenantitem.KindArray {
		elem = field.Type.Elem()
		for elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
	}
	if field.Kind != tenantitem.KindArray || elem.Kind() != reflect.Struct {
		return nil, refuse(d, fmt.Sprintf("%q is a %s", field.Path, field.Type), "make it a slice of a struct with the members to show")
	}
	card, err := tenantitem.ModelOfType(elem)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d, err)
	}
	var names []string
	for _, f := range card.Fields {
		if f.Path != f.Name {
			continue
		}
		from, ok := child.species.Model.Field(f.Name)
		if !ok {
			return nil, fmt.Errorf("%s: the cards in %q: %w", d, field.Path, child.species.Model.UnknownField(f.Name))
		}
		if from.Kind != f.Kind {
			return nil, refuse(d, fmt.Sprintf("%q of the cards is a %s and of %s a %s", f.Name, f.Type, child.name(), from.Type), "give both fields the same type")
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return nil, refuse(d, "its cards have no members", "give their struct exported fields with json tags")
	}
	return names, nil
}

func (s *schema) addLink(d Declaration, lead, other *member) error {
	leadField, err := listField(d, lead, d.fieldA, other)
	if err != nil {
		return err
	}
	otherField, err := listField(d, other, d.fieldB, lead)
	if err != nil {
		return err
	}
	if leadField == otherField {
		return refuse(d, "both sides are one field", "use a field for each direction")
	}
	for _, m := range []*member{lead, other} {
		if m.expires() {
			return refuse(d, fmt.Sprintf("documents of %s expire, which nobody gets to know", m.name()), "delete them instead of letting them expire")
		}
		for _, l := range m.lists {
			if l.field == leadField || l.field == otherField {
				return refuse(d, fmt.Sprintf("%q is kept by another declaration", l.field.Path), "use a field for each")
			}
		}
	}
	l := &link{lead: lead, other: other, leadField: leadField, otherField: otherField}
	s.rules = append(s.rules, leading{l}, following{l})
	other.outward = append(other.outward, leading{l})
	lead.outward = append(lead.outward, following{l})
	other.follows = append(other.follows, l)
	lead.lists = append(lead.lists, listed{leadField, other})
	other.lists = append(other.lists, listed{otherField, lead})
	return nil
}

func listField(d Declaration, m *member, name string, to *member) (*tenantitem.Field, error) {
	f, err := topField(d, m, name)
	if err != nil {
		return nil, err
	}
	if f.Kind != tenantitem.KindArray || f.Refers != to.species.Model.Type {
		return nil, refuse(d, fmt.Sprintf("%q of %s does not hold references to %s", f.Path, m.name(), to.name()), fmt.Sprintf("declare it as []tenantitem.Ref[%s]", plainName(to.species.Model.Type)))
	}
	return f, nil
}

func (s *schema) addGone(d Declaration, target, source *member) error {
	for _, g := range target.groups {
		if g.ref.Path != d.fieldA || g.source != source {
			continue
		}
		switch {
		case d.gone > Restrict:
			return refuse(d, d.gone.String()+" is none", "say denorm.Keep, denorm.Clear or denorm.Restrict")
		case d.gone == Restrict && source.species.Parent != nil:
			return refuse(d, fmt.Sprintf("a %s may go with its parent, which nobody asks for", source.name()), "use denorm.Keep or denorm.Clear")
		case d.gone == Clear && target.isKey(g.ref):
			return refuse(d, fmt.Sprintf("%q is part of the partition key, which can't be cleared", g.ref.Path), "use denorm.Keep or denorm.Restrict")
		}
		g.gone = d.gone
		return nil
	}
	return refuse(d, fmt.Sprintf("no denorm tag of %s has ref=%s and the source %s", target.name(), d.fieldA, source.name()), "name the reference field of a tag")
}

// expires reports whether documents of the species end without a delete.
func (m *member) expires() bool { return m.species.TTL() > 0 }

// needsTombstones reports whether somebody has to learn of deletes.
func (m *member) needsTombstones() (reason string, ok bool) {
	for _, r := range m.outward {
		switch r := r.(type) {
		case *kin:
			return fmt.Sprintf("%s keeps account of its documents, deletes included", r.parent.name()), true
		case leading, following:
			return fmt.Sprintf("%s is linked with it, until it is deleted", r.holder().name()), true
		case *copies:
			for _, g := range r.groups {
				if g.gone == Clear {
					return fmt.Sprintf("the copies in %s are cleared when it is deleted", r.target.name()), true
				}
			}
		}
	}
	return "", false
}

// guarded are the members that a patch may not touch, because what follows
// from them would not follow a patch.
func (m *member) guarded() []repository.GuardedPath {
	const mutate = "use Mutate, which lets it follow"
	var out []repository.GuardedPath
	for _, g := range m.groups {
		out = append(out, repository.GuardedPath{Path: g.ref.Path, Reason: "copies are made through it", Hint: mutate})
		for _, c := range slices.Concat(g.syncs, g.snaps) {
			out = append(out, repository.GuardedPath{Path: c.field.Path, Reason: "it is a copy", Hint: "change its source " + g.source.name() + ", or the reference beside it with Mutate"})
		}
	}
	for _, f := range m.tracked {
		out = append(out, repository.GuardedPath{Path: f.Path, Reason: "what it refers to keeps account of it", Hint: mutate})
	}
	for _, f := range m.kept {
		out = append(out, repository.GuardedPath{Path: f.Path, Reason: "it is computed", Hint: "leave it to the keeper"})
	}
	for _, l := range m.lists {
		out = append(out, repository.GuardedPath{Path: l.field.Path, Reason: "the other side of the link follows it", Hint: mutate})
	}
	return out
}

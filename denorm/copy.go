package denorm

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// group is a reference and the copies that are made through it, side by side
// in one struct.
type group struct {
	target *entityType
	ref    *tenantitem.Field
	steps  []step
	source *entityType
	copies []copied
	// onDelete is what becomes of them when the source is deleted.
	onDelete DeleteAction
	// deleteRule is the declaration that says so; nil is none.
	deleteRule fmt.Stringer
}

// mode is what a copy does: whether it follows its source (copy_mode_sync.go), or
// records it once (copy_mode_snapshot.go).
type mode interface {
	// check refuses what can't work.
	check(tag tagOf, typ *entityType) error
	// follows says that the copy changes when its source does.
	follows() bool
	// remembers says that a write has to know the document that it replaces.
	remembers() bool
	// written is what the field holds after a write; ok is false where the
	// entity's own value stays. A nil source is none.
	written(c copied, s *entityHolder, source *engine.Document) (raw json.RawMessage, ok bool)
	// stored is what the field of a stored document should hold; ok is false
	// where nothing can tell. unset says that it never held anything.
	stored(c copied, in holder, source *engine.Document) (want json.RawMessage, unset, ok bool)
}

// modeOf finds the mode of a tag.
func modeOf(m tenantitem.CopyMode) mode {
	if m == tenantitem.Sync {
		return syncMode{}
	}
	return snapshotMode{}
}

// some reports whether any copy of the group has a mode that is so.
func (g *group) some(so func(mode) bool) bool {
	return slices.ContainsFunc(g.copies, func(c copied) bool { return so(c.mode) })
}

// follows and remembers are those of any of the copies.
func (g *group) follows() bool   { return g.some(mode.follows) }
func (g *group) remembers() bool { return g.some(mode.remembers) }

// sourceFields are the top-level members of the source that are copied.
func (g *group) sourceFields() []string {
	var names []string
	for _, c := range g.copies {
		names = append(names, topOf(c.source))
	}
	return distinct(names)
}

// tagOf names a tag in errors.
type tagOf struct {
	typ *entityType
	f   *tenantitem.Field
}

func (t tagOf) String() string {
	return fmt.Sprintf("the denorm tag on %q of %s", t.f.Path, t.typ.entity)
}

// addCopies reads the denorm tags of one entity type.
func (s *schema) addCopies(typ *entityType) error {
	for _, f := range typ.entity.Model.Copies() {
		tag := tagOf{typ, f}
		source, ok := s.byType[f.Copy.Through.Refers]
		if !ok {
			return refuse(tag, fmt.Sprintf("its source %s is not registered", plainName(f.Copy.Through.Refers)), fmt.Sprintf("add registry.Entity[%s]()", plainName(f.Copy.Through.Refers)))
		}
		if typ.isGlobal() != source.isGlobal() {
			return refuse(tag, fmt.Sprintf("%s and %s do not both belong to tenants", typ.name(), source.name()), "fill the field in the application")
		}
		if err := modeOf(f.Copy.Mode).check(tag, typ); err != nil {
			return err
		}
		if f.Copy.Through.Copy != nil {
			return refuse(tag, fmt.Sprintf("the reference %q is a copy itself", f.Copy.Through.Path), "make the reference a field of its own, or copy from the document that it is copied from")
		}
		for _, field := range []*tenantitem.Field{f, f.Copy.Through} {
			if err := typ.checkPath(tag, field); err != nil {
				return err
			}
		}
		if err := typ.claim(tag, f); err != nil {
			return err
		}
		from, ok := source.entity.Model.Field(f.Copy.Source)
		if ok {
			if err := source.checkPath(tag, from); err != nil {
				return err
			}
		}
		if !ok || from.Array() != nil {
			return refuse(tag, fmt.Sprintf("%s of %s lies in an array", f.Copy.Source, source.name()), "copy the whole array, or a field outside it")
		}
		copied, err := newCopied(f)
		if err != nil {
			return refuse(tag, fmt.Sprintf("a %s can't be encoded as JSON", f.Type), "use another type")
		}
		g := typ.group(f.Copy.Through, source)
		if len(g.copies) == 0 {
			typ.guard(g.ref, "copies are made through it", useMutate)
			s.keep(g)
		}
		g.copies = append(g.copies, copied)
		typ.guard(f, "it is a copy", "change its source "+source.name()+", or its reference with Mutate")
	}
	if len(typ.groups) > 0 {
		typ.fillers = append(typ.fillers, copyFiller{typ})
	}
	return nil
}

// group finds the group of a reference or makes it.
func (typ *entityType) group(ref *tenantitem.Field, source *entityType) *group {
	for _, g := range typ.groups {
		if g.ref == ref {
			return g
		}
	}
	g := &group{target: typ, ref: ref, steps: stepsOf(ref.Path), source: source}
	typ.groups = append(typ.groups, g)
	return g
}

// keep adds a group to the rule of its types.
func (s *schema) keep(g *group) {
	for _, r := range s.rules {
		if r, ok := r.(*copyRule); ok && r.target == g.target && r.source == g.source {
			if !slices.Contains(r.groups, g) {
				r.groups = append(r.groups, g)
			}
			return
		}
	}
	r := &copyRule{target: g.target, source: g.source, groups: []*group{g}}
	s.rules = append(s.rules, r)
	g.source.followers = append(g.source.followers, r)
}

// groupOf finds the group that a declaration names by its reference. A
// reference without copies gets one of its own.
func groupOf(d Declaration, target, source *entityType, refField string) (*group, error) {
	for _, g := range target.groups {
		if g.ref.Path == refField && g.source == source {
			return g, nil
		}
	}
	ref, ok := target.entity.Model.Field(refField)
	if !ok {
		return nil, fmt.Errorf("%s: %w", d, target.entity.Model.UnknownField(refField))
	}
	if ref.Refers != source.entity.Model.Type {
		return nil, refuse(d, fmt.Sprintf("%q of %s does not refer to %s", ref.Path, target.name(), source.name()), "name the reference field of a tag, or another tenantitem.Ref")
	}
	return target.group(ref, source), target.checkPath(d, ref)
}

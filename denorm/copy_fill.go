package denorm

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/tenantitem"
)

// copyFiller fills the copies in entities that are written. It costs one read for each
// type of source, however many entities are written together. A change of the source
// comes later, by the change feed: follow.go and copy_rule.go.
type copyFiller struct{ typ *entityType }

func (c copyFiller) before() (names []string, always bool) {
	for _, g := range c.typ.groups {
		names = append(names, topOf(g.ref.Path))
		always = always || g.remembers()
		for _, c := range g.copies {
			if c.mode.remembers() {
				names = append(names, topOf(c.field.Path))
			}
		}
	}
	return names, always
}

// entityHolder is an object in an entity that holds copies; [holder] is one in a
// stored document.
type entityHolder struct {
	i     int // of the entity
	group *group
	value reflect.Value
	ref   string
	// before is the object of the replaced document that this one continues.
	before *holder
}

func (c copyFiller) fill(ctx context.Context, f *filling) error {
	holders, err := f.holders(ctx)
	if err != nil {
		return err
	}
	ids, fields := map[*entityType][]string{}, map[*entityType][]string{}
	for _, s := range holders {
		if s.needsSource() {
			ids[s.group.source] = append(ids[s.group.source], s.ref)
			fields[s.group.source] = append(fields[s.group.source], s.group.sourceFields()...)
		}
	}
	sources := map[*entityType]map[string]engine.Document{}
	for source, wanted := range ids {
		if sources[source], err = readSources(ctx, source, f.w.TenantID, wanted, distinct(fields[source])); err != nil {
			return err
		}
	}
	for i := range holders {
		if err := f.fillHolder(ctx, &holders[i], sources[holders[i].group.source]); err != nil {
			return err
		}
	}
	return nil
}

// holders finds every place for copies and, where snapshots are among them, what
// it held before.
func (f *filling) holders(ctx context.Context) ([]entityHolder, error) {
	var all []entityHolder
	for i, entity := range f.entities {
		for _, g := range f.typ.groups {
			if len(g.copies) == 0 {
				continue
			}
			first := len(all)
			g.ref.Holders(entity, func(value reflect.Value) {
				s := entityHolder{i: i, group: g, value: value}
				if ref, ok := g.ref.In(value); ok {
					s.ref = ref.String()
				}
				all = append(all, s)
			})
			for _, s := range all[first:] {
				if s.ref == "" {
					continue
				}
				if err := tenantitem.ValidateID(s.ref); err != nil {
					return nil, fmt.Errorf("%s: %w", g.ref.Path, err)
				}
			}
			if !g.remembers() {
				continue
			}
			if err := f.match(ctx, all[first:], g); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// match pairs the places of one group with those of the replaced document:
// elements of arrays move, so they are known by their reference, and among
// several with the same one by what they hold. A place that finds all of them
// taken, and holds the snapshots of one of them, is a copy of it that an editor
// made; it keeps them too, whichever of the two stands first.
func (f *filling) match(ctx context.Context, holders []entityHolder, g *group) error {
	if len(holders) == 0 {
		return nil
	}
	prior, err := f.prior(ctx, holders[0].i)
	if err != nil || prior == nil {
		return err
	}
	before, err := holdersIn(prior.Fields, g.steps, "", nil)
	if err != nil {
		return nil //nolint:nilerr // what another writer left in another shape holds no snapshots
	}
	taken := make([]bool, len(before))
	pair := func(exactly, shared bool) error {
		for i := range holders {
			for j := range before {
				if holders[i].before != nil || taken[j] != shared || before[j].text(g.ref.Name) != holders[i].ref {
					continue
				}
				if same, err := holders[i].holdsSame(before[j]); err != nil || exactly && !same {
					if err != nil {
						return err
					}
					continue
				}
				holders[i].before, taken[j] = &before[j], true
			}
		}
		return nil
	}
	if err := pair(true, false); err != nil {
		return err
	}
	if err := pair(false, false); err != nil {
		return err
	}
	return pair(true, true)
}

// holdsSame reports whether a place's snapshots are those of the other.
func (s *entityHolder) holdsSame(before holder) (bool, error) {
	for _, c := range s.group.copies {
		if !c.mode.remembers() {
			continue
		}
		raw := c.empty
		if v, ok := c.field.DeclaredIn(s.value); ok {
			var err error
			if raw, err = c.encode(v); err != nil {
				return false, err
			}
		}
		if same, err := c.same(raw, before.members[c.field.Name]); err != nil || !same {
			return false, nil //nolint:nilerr // what another writer left there is no snapshot
		}
	}
	return true, nil
}

func (f *filling) fillHolder(ctx context.Context, s *entityHolder, sources map[string]engine.Document) error {
	source, exists := sources[s.ref]
	alive := exists && source.DeletedAt == ""
	if !alive && s.needsSource() {
		kept, err := f.continues(ctx, s)
		if err != nil {
			return err
		}
		if !kept {
			return &parented.DanglingError{Field: s.group.ref.Path, EntityType: s.group.source.name(), ID: s.ref}
		}
	}
	var from *engine.Document
	if alive {
		from = &source
	}
	for _, c := range s.group.copies {
		raw, ok := c.mode.written(c, s, from)
		if !ok {
			continue
		}
		if err := c.set(s.value, raw); err != nil {
			return fmt.Errorf("denorm: %s, a copy of %s.%s: %w", c.field.Path, s.group.source.name(), c.source, err)
		}
	}
	return nil
}

// needsSource reports whether a write has to read the source.
func (s *entityHolder) needsSource() bool {
	return s.ref != "" && len(s.group.copies) > 0 && (s.group.follows() || s.before == nil)
}

// continues reports whether a place without a source had that reference
// before: its source was deleted since, and the document may go on.
func (f *filling) continues(ctx context.Context, s *entityHolder) (bool, error) {
	if s.before != nil {
		return true, nil
	}
	prior, err := f.prior(ctx, s.i)
	if err != nil || prior == nil {
		return false, err
	}
	before, err := holdersIn(prior.Fields, s.group.steps, "", nil)
	return err == nil && slices.ContainsFunc(before, func(h holder) bool { return h.text(s.group.ref.Name) == s.ref }), nil
}

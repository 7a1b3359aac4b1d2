package denorm

import (
	"slices"
	"strings"
)

// place is a top-level member of a species.
type place struct {
	m     *member
	field string
}

func (p place) String() string { return p.m.name() + "." + p.field }

// checkCycles refuses members that are copied from each other in a circle:
// they would follow each other for ever.
func (s *schema) checkCycles() error {
	from := map[place][]place{}
	for _, m := range s.members {
		for _, g := range m.groups {
			for _, c := range g.syncs {
				at := place{m, topOf(c.field.Path)}
				from[at] = append(from[at], place{g.source, topOf(c.source)})
			}
		}
	}
	for _, r := range s.rules {
		k, ok := r.(*kin)
		if !ok {
			continue
		}
		for _, n := range k.recents {
			at := place{k.parent, topOf(n.field.Path)}
			for _, name := range n.card {
				from[at] = append(from[at], place{k.child, name})
			}
		}
	}
	var path []place
	done := map[place]bool{}
	var visit func(place) error
	visit = func(p place) error {
		if i := slices.Index(path, p); i >= 0 {
			names := make([]string, 0, len(path)-i+1)
			for _, on := range append(path[i:], p) {
				names = append(names, on.String())
			}
			return refuse(circle(names), "each is a copy of the next", "let one of them be a field of its own, or a snapshot")
		}
		if done[p] {
			return nil
		}
		path = append(path, p)
		defer func() { path = path[:len(path)-1]; done[p] = true }()
		for _, next := range from[p] {
			if err := visit(next); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range s.members {
		for _, f := range m.species.Model.Fields {
			if err := visit(place{m, f.Path}); err != nil {
				return err
			}
		}
	}
	return nil
}

// circle names the members of a circle in errors.
type circle []string

func (c circle) String() string { return "the copies " + strings.Join(c, " <- ") }

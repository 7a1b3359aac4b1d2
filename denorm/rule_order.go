package denorm

import (
	"cmp"
	"slices"
	"strings"
)

// typeField is a top-level member of an entity type.
type typeField struct {
	typ   *entityType
	field string
}

func (p typeField) String() string { return p.typ.name() + "." + p.field }

// edge says that one member is written by what another one holds. The edge of
// a member that is computed from nothing stored has a zero from.
type edge struct {
	to, from typeField
	// value says that the one's value becomes a part of the other's, so that a
	// cycle of such edges would go round for ever.
	value bool
}

// stage is a step of Audit and Repair: documents of one type are compared by
// some of their rules.
type stage struct {
	typ   *entityType
	rules []rule
}

// arrange refuses cycles of copies and puts the rules in order: what a rule
// reads was written by others before. All rules of a type run together where
// that is possible, since each stage reads every document of its type.
func (s *schema) arrange() error {
	from := map[typeField][]edge{}
	for _, r := range s.rules {
		for _, e := range r.follows() {
			from[e.to] = append(from[e.to], e)
		}
	}
	if err := s.checkCycles(from); err != nil {
		return err
	}
	s.crossings = crossingsOf(from)
	pending := map[typeField]bool{}
	for p := range from {
		pending[p] = true
	}
	ready := func(p typeField) bool {
		// A rule that clears a reference empties the copies through it as well.
		return !slices.ContainsFunc(from[p], func(e edge) bool { return e.from != p && pending[e.from] && !s.together(e) })
	}
	for len(pending) > 0 {
		typ, whole := s.nextStage(pending, ready)
		next := stage{typ: typ}
		var written []typeField
		for _, r := range typ.own {
			runs := false
			for _, e := range r.follows() {
				if pending[e.to] && (ready(e.to) || !whole) {
					runs, written = true, append(written, e.to)
				}
			}
			if runs {
				next.rules = append(next.rules, r)
			}
		}
		for _, p := range written {
			delete(pending, p)
		}
		s.stages = append(s.stages, next)
	}
	s.fingerprint = fingerprintOf(s.stages)
	return nil
}

// together reports whether every rule that writes what an edge is from writes what it is to, too.
func (s *schema) together(e edge) bool {
	if e.value || e.from.typ != e.to.typ {
		return false
	}
	for _, r := range e.to.typ.own {
		edges := r.follows()
		writes := func(p typeField) bool { return slices.ContainsFunc(edges, func(e edge) bool { return e.to == p }) }
		if writes(e.from) && !writes(e.to) {
			return false
		}
	}
	return true
}

// crossingsOf is how often the longest chain of members goes from one container to another. A chain that comes back to where it
// began, through references or snapshots, goes round once.
func crossingsOf(from map[typeField][]edge) int {
	known := map[typeField]int{}
	var longest func(typeField) int
	longest = func(p typeField) int {
		if n, ok := known[p]; ok {
			return n
		}
		known[p] = 0
		n := 0
		for _, e := range from[p] {
			switch {
			case e.from.typ == nil:
				n = max(n, 1) // cleared for a delete, of whatever type
			case e.from.typ.entity.Container != p.typ.entity.Container:
				n = max(n, longest(e.from)+1)
			default:
				n = max(n, longest(e.from))
			}
		}
		known[p] = n
		return n
	}
	most := 0
	for p := range from {
		most = max(most, longest(p))
	}
	return most
}

// nextStage chooses the type whose documents come next: one that is ready as a
// whole, else one that is ready in part. Where snapshots go round in a cycle
// none is; then ordered is false, and the first one is taken as it is.
func (s *schema) nextStage(pending map[typeField]bool, ready func(typeField) bool) (next *entityType, ordered bool) {
	var part, first *entityType
	for _, typ := range s.entityTypes {
		some, all := false, true
		for p := range pending {
			if p.typ == typ {
				some, all = some || ready(p), all && ready(p)
				first = cmp.Or(first, typ)
			}
		}
		if some && all {
			return typ, true
		}
		if some {
			part = cmp.Or(part, typ)
		}
	}
	if part != nil {
		return part, true
	}
	return first, false
}

// checkCycles refuses members that are copied from each other in a cycle:
// they would follow each other for ever.
func (s *schema) checkCycles(from map[typeField][]edge) error {
	var path []typeField
	done := map[typeField]bool{}
	var visit func(typeField) error
	visit = func(p typeField) error {
		if i := slices.Index(path, p); i >= 0 {
			names := make([]string, 0, len(path)-i+1)
			for _, on := range append(path[i:], p) {
				names = append(names, on.String())
			}
			return refuse(copyCycle(names), "each is a copy of the next", "let one of them be a field of its own, or a snapshot")
		}
		if done[p] {
			return nil
		}
		path = append(path, p)
		defer func() { path = path[:len(path)-1]; done[p] = true }()
		for _, e := range from[p] {
			if !e.value {
				continue
			}
			if err := visit(e.from); err != nil {
				return err
			}
		}
		return nil
	}
	for _, typ := range s.entityTypes {
		for _, f := range typ.entity.Model.Fields {
			if err := visit(typeField{typ, f.Path}); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyCycle names the members of a cycle in errors.
type copyCycle []string

func (c copyCycle) String() string { return "the copies " + strings.Join(c, " <- ") }

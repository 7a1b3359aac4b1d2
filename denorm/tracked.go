package denorm

import (
	"context"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A reference is tracked when the documents that it names follow from those
// that hold it. A document that changes such a reference leaves the former one
// in a hidden member, engine.MovedField, in the same write, until what it
// named was computed again.

// track says that documents of the type leave their former references behind.
func (m *member) track(ref *tenantitem.Field) {
	if slices.Contains(m.tracked, ref) {
		return
	}
	m.tracked = append(m.tracked, ref)
	m.guard(ref, "what it refers to follows it", useMutate)
}

// trackedFiller notes the former references of written documents.
type trackedFiller struct{ m *member }

func (t trackedFiller) before() (names []string, always bool) {
	names = []string{engine.MovedField}
	for _, f := range t.m.tracked {
		names = append(names, topOf(f.Path))
	}
	return names, true
}

// fill also notes those of a document that was deleted and whose id is taken.
func (t trackedFiller) fill(_ context.Context, f *filling) error {
	for i, prior := range f.priors {
		if prior == nil {
			continue
		}
		moved := movedOf(*prior)
		for _, ref := range t.m.tracked {
			now, left := refsOf(f.entities[i], ref), moved[ref.Path]
			for _, id := range refsIn(prior.Fields, ref) {
				if !slices.Contains(now, id) && !slices.Contains(left, id) {
					left = append(left, id)
				}
			}
			if len(left) > 0 {
				f.leave(i, engine.MovedField, ref.Path, left)
			}
		}
	}
	return nil
}

// movedOf returns the references that a document had until lately, by field.
func movedOf(d engine.Document) map[string][]string {
	raw, ok := d.Fields[engine.MovedField]
	if !ok {
		return nil
	}
	var moved map[string][]string
	if engine.DecodeValue(raw, &moved) != nil {
		return nil
	}
	return moved
}

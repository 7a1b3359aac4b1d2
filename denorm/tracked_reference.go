package denorm

import (
	"context"
	"slices"

	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A reference is tracked when the documents that it names follow from those
// that hold it. A document that changes such a reference leaves the former one
// in a hidden member, engine.MovedField, in the same write, until what it
// named was computed again. What Grove knows of its references stands in
// another, so that one that was changed around Grove tells of itself.

// countedField is the hidden member with the references that Grove wrote or has
// followed, by field.
const countedField = document.Counted

// track says that documents of the type leave their former references behind.
func (typ *entityType) track(ref *tenantitem.Field) {
	if slices.Contains(typ.tracked, ref) {
		return
	}
	typ.tracked = append(typ.tracked, ref)
	typ.guard(ref, "what it refers to follows it", useMutate)
}

// trackedFiller notes the former references of written documents.
type trackedFiller struct{ typ *entityType }

func (t trackedFiller) before() (names []string, always bool) {
	names = []string{engine.MovedField, countedField}
	for _, f := range t.typ.tracked {
		names = append(names, topOf(f.Path))
	}
	return names, true
}

// fill also notes those of a document that was deleted and whose id is taken.
func (t trackedFiller) fill(_ context.Context, f *filling) error {
	for i, prior := range f.priors {
		for _, ref := range t.typ.tracked {
			now := refsOf(f.entities[i], ref)
			if len(now) > 0 {
				f.leave(i, countedField, ref.Path, now)
			}
			if prior == nil {
				continue
			}
			left := formerRefs(*prior, ref)
			for _, id := range refsIn(prior.Fields, ref) {
				if !slices.Contains(left, id) {
					left = append(left, id)
				}
			}
			if left = slices.DeleteFunc(left, func(id string) bool { return slices.Contains(now, id) }); len(left) > 0 {
				f.leave(i, engine.MovedField, ref.Path, left)
			}
		}
	}
	return nil
}

// formerRefs are the references that a stored document had until lately, as far
// as it tells: those it left behind, and those that Grove knew of.
func formerRefs(d engine.Document, ref *tenantitem.Field) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(
		byField(d, engine.MovedField)[ref.Path], byField(d, countedField)[ref.Path],
	))))
}

// byField reads a hidden member that holds references by field.
func byField(d engine.Document, name string) map[string][]string {
	raw, ok := d.Fields[name]
	if !ok {
		return nil
	}
	var refs map[string][]string
	if engine.DecodeValue(raw, &refs) != nil {
		return nil
	}
	return refs
}

// counted is what countedField should hold; ok says that it does.
func (typ *entityType) counted(d engine.Document) (want map[string][]string, ok bool) {
	want = map[string][]string{}
	have := byField(d, countedField)
	ok = true
	for _, ref := range typ.tracked {
		now := refsIn(d.Fields, ref)
		if len(now) > 0 {
			want[ref.Path] = now
		}
		ok = ok && slices.Equal(have[ref.Path], now)
	}
	return want, ok
}

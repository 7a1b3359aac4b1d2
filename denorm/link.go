package denorm

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// link keeps the ids of a many-to-many on both sides. One side leads: what its
// documents list is what holds. A change of the other side's list is kept
// beside it as a wish, in the same write, until the leading documents follow;
// the other side's list is what the leading side says, and its own wishes.
// Lists are therefore never compared as peers, where nothing could tell an id
// that was added here from one that was removed there.
type link struct {
	lead, other           *member
	leadField, otherField *tenantitem.Field
	// samePartition says that both sides may share a logical partition.
	samePartition bool
}

// LinkOf keeps both sides of a many-to-many in step: fieldA of A is an array
// of tenantitem.Ref[B] and fieldB of B one of tenantitem.Ref[A]. Either may be
// written, and the other changes when counts do; see [CountOf]. When both sides
// of one pair are changed at the same time, A's list is followed.
func LinkOf[A, B any](fieldA, fieldB string) Declaration {
	return declare[A, B]("Link", func(s *schema, d Declaration, lead, other *member) error {
		leadField, err := listField(d, lead, fieldA, other)
		if err != nil {
			return err
		}
		otherField, err := listField(d, other, fieldB, lead)
		if err != nil {
			return err
		}
		if leadField == otherField {
			return refuse(d, "both sides are one field", "use a field for each direction")
		}
		l := &link{lead: lead, other: other, leadField: leadField, otherField: otherField}
		for _, side := range []listFiller{{lead, leadField, other, nil}, {other, otherField, lead, l}} {
			if side.m.expires() {
				return refuse(d, fmt.Sprintf("documents of %s expire, which nobody gets to know", side.m.name()), "delete them instead of letting them expire")
			}
			if err := side.m.claim(d, side.field); err != nil {
				return err
			}
			side.m.guard(side.field, "the other side of the link follows it", useMutate)
			side.m.fillers = append(side.m.fillers, side)
			side.m.keepTombstones(fmt.Sprintf("%s is linked with it, until it is deleted", side.to.name()))
		}
		s.rules = append(s.rules, leading{l}, following{l})
		other.outward = append(other.outward, leading{l})
		lead.outward = append(lead.outward, following{l})
		return nil
	})
}

func listField(d Declaration, m *member, name string, to *member) (*tenantitem.Field, error) {
	f, err := topField(d, m, name)
	if err != nil {
		return nil, err
	}
	if f.Kind != tenantitem.KindArray || f.Refers != to.entity.Model.Type {
		return nil, refuse(d, fmt.Sprintf("%q of %s does not hold references to %s", f.Path, m.name(), to.name()), fmt.Sprintf("declare it as []tenantitem.Ref[%s]", plainName(to.entity.Model.Type)))
	}
	return f, nil
}

// wishesField is the hidden member of the following side, by field.
const wishesField = document.Links

// wishes are the ids that a document's list was given, and that were taken
// from it, and that the other side does not know yet.
type wishes struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

func wishesIn(fields map[string]json.RawMessage) map[string]wishes {
	raw, ok := fields[wishesField]
	if !ok {
		return nil
	}
	var all map[string]wishes
	if engine.DecodeValue(raw, &all) != nil {
		return nil
	}
	return all
}

// change adds what was done to a list to what is wished already.
func (w wishes) change(old, now []string) wishes {
	for _, id := range now {
		if !slices.Contains(old, id) {
			w.Remove = without(w.Remove, id)
			w.Add = distinct(append(slices.Clone(w.Add), id))
		}
	}
	for _, id := range old {
		if !slices.Contains(now, id) {
			w.Add = without(w.Add, id)
			w.Remove = distinct(append(slices.Clone(w.Remove), id))
		}
	}
	return w
}

func without(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(have string) bool { return have == id })
}

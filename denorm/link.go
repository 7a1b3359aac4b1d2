package denorm

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// link keeps the ids of a many-to-many on both sides. One side leads: what its
// documents list is what holds. A change of the other side's list is kept
// beside it as pending, in the same write, until the leading documents follow;
// the other side's list is what the leading side says, and what is pending.
// Lists are therefore never compared as peers, where nothing could tell an id
// that was added here from one that was removed there.
type link struct {
	lead, other           *entityType
	leadField, otherField *tenantitem.Field
	// samePartition says that both sides may share a logical partition.
	samePartition bool
}

// LinkOf keeps both sides of a many-to-many in step: fieldA of A is a slice
// of tenantitem.Ref[B] and fieldB of B one of tenantitem.Ref[A]. Either may be
// written, and the other changes when counts do; see [CountOf]. When both sides
// of one pair are changed at the same time, A's list is followed.
func LinkOf[A, B any](fieldA, fieldB string) Declaration {
	return declare("Link", reflect.TypeFor[A](), reflect.TypeFor[B](), bindLink(fieldA, fieldB))
}

func bindLink(fieldA, fieldB string) binder {
	return func(s *schema, d Declaration, lead, other *entityType) error {
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
			if side.typ.expires() {
				return refuse(d, fmt.Sprintf("documents of %s expire, which nobody gets to know", side.typ.name()), "delete them instead of letting them expire")
			}
			if err := side.typ.claim(d, side.field); err != nil {
				return err
			}
			side.typ.guard(side.field, "the other side of the link follows it", useMutate)
			side.typ.fillers = append(side.typ.fillers, side)
			side.typ.keepTombstones(fmt.Sprintf("%s is linked with it, until it is deleted", side.to.name()))
		}
		s.rules = append(s.rules, leading{l}, following{l})
		other.followers = append(other.followers, leading{l})
		lead.followers = append(lead.followers, following{l})
		return nil
	}
}

func listField(d Declaration, typ *entityType, name string, to *entityType) (*tenantitem.Field, error) {
	f, err := topField(d, typ, name)
	if err != nil {
		return nil, err
	}
	if f.Type.Kind() != reflect.Slice || f.Refers != to.entity.Model.Type {
		return nil, refuse(d, fmt.Sprintf("%q of %s does not hold references to %s", f.Path, typ.name(), to.name()), fmt.Sprintf("declare it as []tenantitem.Ref[%s]", plainName(to.entity.Model.Type)))
	}
	return f, nil
}

// pendingLinksField is the hidden member of the following side, by field.
const pendingLinksField = document.Links

// pendingLinks are the ids that a document's list was given, and that were taken
// from it, and that the other side does not know yet.
type pendingLinks struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

func pendingLinksIn(fields map[string]json.RawMessage) map[string]pendingLinks {
	raw, ok := fields[pendingLinksField]
	if !ok {
		return nil
	}
	var all map[string]pendingLinks
	if engine.DecodeValue(raw, &all) != nil {
		return nil
	}
	return all
}

// change adds what was done to a list to what is pending already.
func (w pendingLinks) change(old, now []string) pendingLinks {
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

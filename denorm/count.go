package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// CountOf keeps in a number field of P how many documents of C refer to it
// through refField, a tenantitem.Ref[P] or an array of them ("parentId" for a
// child of P). The number is of at least 32 bits and signed, or a float. In one logical partition it changes with them, in one
// transaction; else the change feed brings it.
func CountOf[P, C any](field, refField string) Declaration {
	return declare("Count", reflect.TypeFor[P](), reflect.TypeFor[C](), bindCount(field, refField))
}

func bindCount(field, refField string) binder {
	return func(s *schema, d Declaration, parent, child *entityType) error {
		f, err := topField(d, parent, field)
		if err != nil {
			return err
		}
		ref, err := findRef(d, parent, child, refField)
		if err != nil {
			return err
		}
		if f.Kind != tenantitem.KindNumber || f.Type.Size() < minCountBytes || isUnsigned(f.Type) {
			return refuse(d, fmt.Sprintf("%q is a %s", f.Path, f.Type), "make it an int")
		}
		return s.relatedTo(d, parent, child, ref, count{f})
	}
}

// minCountBytes is the size of the smallest number that a count fits: more than 32,767 refer to one document.
const minCountBytes = 4

// isUnsigned reports whether a number can't be below zero. A count that was never taken, on
// existing data, is when a document is deleted, until it is counted.
func isUnsigned(t reflect.Type) bool { return t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr }

// count is a field that says how many documents refer to its own. In a
// transaction with them it is changed by what they change (change; by how much, also
// when one moves, related_transaction.go says); a lost answer is that of the whole
// transaction, which has one fate (internal/engine/outcome.go). Else, and
// where it was found wrong, it is counted anew from what is stored (related.go),
// and written if the parent still has the etag that it had before the count: a change that
// the feed delivers twice adds nothing.
type count struct{ field *tenantitem.Field }

func (c count) keeps() *tenantitem.Field { return c.field }
func (c count) needs() []string          { return nil }
func (c count) counts() bool             { return true }
func (c count) limit() int               { return 0 }

func (c count) compute(_ context.Context, _ *related, _, _ string, n int64) (json.RawMessage, []misfit, error) {
	return strconv.AppendInt(nil, n, 10), nil, nil
}

// blindWrite: adding to a count does not depend on what it was.
func (c count) blindWrite() bool { return true }

// change adds to the count. One that holds something else than a number is left
// to the keeper.
func (c count) change(_ context.Context, _ *transaction, f *childrenChange, t *target) error {
	if f.delta == 0 {
		return nil
	}
	have := int64(0)
	raw := t.now(c.field.Path)
	null := string(raw) == "null" // which can't be added to
	if raw != nil && !null {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return nil //nolint:nilerr // the keeper tells of it
		}
		have = n
	}
	if t.own || null || t.sets[c.field.Path] != nil {
		t.set(c.field.Path, strconv.AppendInt(nil, have+f.delta, 10))
	} else {
		t.incs = append(t.incs, engine.MemberIncrement{Pointer: "/" + escapePointer(c.field.Path), By: f.delta})
	}
	return nil
}

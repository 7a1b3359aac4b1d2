package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// RecentOf keeps in an array field of P the newest n documents of C that refer
// to it, newest first: by their ids, which sort by time unless the application
// makes its own. The array is a slice, and its elements are cards: structs whose JSON members
// are members of C, at most 100 of them. refField is the field of C that
// refers to P; it may be left out when there is only one. It changes when
// counts do; see [CountOf].
func RecentOf[P, C any](field string, n int, refField ...string) Declaration {
	return declare("Recent", reflect.TypeFor[P](), reflect.TypeFor[C](), bindRecent(field, n, refField))
}

func bindRecent(field string, n int, refField []string) binder {
	return func(s *schema, d Declaration, parent, child *entityType) error {
		f, err := topField(d, parent, field)
		if err != nil {
			return err
		}
		ref, err := findRef(d, parent, child, refField...)
		if err != nil {
			return err
		}
		projection, err := projectionOf(d, f, n, child)
		if err != nil {
			return err
		}
		return s.relatedTo(d, parent, child, ref, recent{field: f, n: n, projection: projection})
	}
}

const maxRecent = 100

// projectionOf returns the members of the cards in an array.
func projectionOf(d Declaration, field *tenantitem.Field, n int, child *entityType) ([]string, error) {
	if n < 1 || n > maxRecent {
		return nil, refuse(d, fmt.Sprintf("it asks for %d", n), fmt.Sprintf("ask for 1 to %d", maxRecent))
	}
	elem := field.Type
	if field.Kind == tenantitem.KindArray {
		elem = field.Type.Elem()
		for elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
	}
	if field.Type.Kind() != reflect.Slice || elem.Kind() != reflect.Struct {
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
		if err := checkName(d, card.Name, f); err != nil {
			return nil, err
		}
		from, ok := child.entity.Model.Field(f.Name)
		if !ok {
			return nil, fmt.Errorf("%s: the cards in %q: %w", d, field.Path, child.entity.Model.UnknownField(f.Name))
		}
		if from.Kind != f.Kind || from.Quoted != f.Quoted {
			return nil, refuse(d, fmt.Sprintf("%q of the cards is a %s and of %s a %s", f.Name, f.Type, child.name(), from.Type), "give both fields the same type")
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return nil, refuse(d, "its cards have no members", "give their struct exported fields with json tags")
	}
	return names, nil
}

// recent is a field that holds the newest documents as cards.
type recent struct {
	field *tenantitem.Field
	n     int
	// projection are the members of a card, which are members of the child too.
	projection []string
}

func (n recent) keeps() *tenantitem.Field { return n.field }
func (n recent) needs() []string          { return n.projection }
func (n recent) counts() bool             { return false }
func (n recent) limit() int               { return n.n }
func (n recent) blindWrite() bool         { return false }

// compute returns the cards of the newest documents that refer to one, as the
// parent's field stores them.
func (n recent) compute(ctx context.Context, r *related, tenant, parent string, children int64) (want json.RawMessage, misfits []misfit, err error) {
	if children == 0 {
		return json.RawMessage("[]"), nil, nil
	}
	var cards []map[string]json.RawMessage
	for limit := n.n; ; limit = n.n + len(misfits) {
		cards, misfits = nil, nil
		seen := 0
		for d, err := range r.child.docs.Documents(ctx, tenant, r.child.keyOfRef(r.ref.Path, parent), r.of(parent).OrderByDesc("id").Limit(limit), engine.Fields(n.projection...)) {
			if err != nil {
				return nil, nil, err
			}
			seen++
			if err := n.fits(d.Fields); err != nil {
				misfits = append(misfits, misfit{d, n.malformed(r, err)})
			} else {
				cards = append(cards, d.Fields)
			}
		}
		if seen < limit || len(cards) >= n.n {
			want, err = n.store(cards)
			return want, misfits, err
		}
	}
}

// fits reports what is wrong with a child that something else wrote, as a card.
// Such a child is left out of the list, which shows the newest of the others.
func (n recent) fits(card map[string]json.RawMessage) error {
	raw, err := engine.EncodeValue(card)
	if err != nil {
		return err
	}
	return engine.DecodeValue(raw, reflect.New(n.field.Type.Elem()).Interface())
}

func (n recent) malformed(r *related, err error) error {
	return fmt.Errorf("denorm: it does not fit the cards in %s.%s: %w", r.parent.name(), n.field.Path, err)
}

// store writes cards as the parent's field stores them; members that are not
// on a card are dropped.
func (n recent) store(cards []map[string]json.RawMessage) (json.RawMessage, error) {
	if cards == nil {
		cards = []map[string]json.RawMessage{}
	}
	raw, err := engine.EncodeValue(cards)
	if err != nil {
		return nil, err
	}
	into := reflect.New(n.field.Type)
	if err := engine.DecodeValue(raw, into.Interface()); err != nil {
		return nil, fmt.Errorf("denorm: the cards in %s: %w", n.field.Path, err)
	}
	return engine.EncodeValue(into.Interface())
}

// change changes the list in the transaction of its children.
func (n recent) change(ctx context.Context, tx *transaction, f *childrenChange, t *target) error {
	t.bound = true
	next, ok := n.within(f, t.now(n.field.Path))
	if !ok {
		var err error
		if next, err = n.anew(ctx, tx.tx.TenantID, f); err != nil {
			return err
		}
	}
	raw, err := n.store(next)
	if err != nil {
		return err
	}
	if same, err := sameValue(n.field.Type, t.now(n.field.Path), raw); err != nil || same {
		return nil //nolint:nilerr // a list of another shape is left to the keeper
	}
	t.set(n.field.Path, raw)
	return nil
}

// within changes the stored list, where it tells enough: its cards know the
// children's ids, and none has to be filled in for one that went.
func (n recent) within(f *childrenChange, stored json.RawMessage) ([]map[string]json.RawMessage, bool) {
	var cards []map[string]json.RawMessage
	if !slices.Contains(n.projection, "id") || stored != nil && engine.DecodeValue(stored, &cards) != nil {
		return nil, false
	}
	full := len(cards) >= n.n
	gone := false
	cards = slices.DeleteFunc(cards, func(card map[string]json.RawMessage) bool {
		after, changed := f.after[idOf(card)]
		gone = gone || changed && after == nil
		return changed
	})
	if gone && full {
		return nil, false
	}
	return n.newest(f, cards), true
}

// anew asks for the newest children as they are stored and puts the changed
// ones among them.
func (n recent) anew(ctx context.Context, tenant string, f *childrenChange) ([]map[string]json.RawMessage, error) {
	var cards []map[string]json.RawMessage
	q := f.rule.of(f.parent).OrderByDesc("id").Limit(n.n + len(f.after))
	for d, err := range f.rule.child.docs.Documents(ctx, tenant, f.rule.child.keyOfRef(f.rule.ref.Path, f.parent), q, engine.Fields(append([]string{"id"}, n.projection...)...)) {
		if err != nil {
			return nil, err
		}
		if _, changed := f.after[d.ID]; !changed {
			cards = append(cards, d.Fields)
		}
	}
	return n.newest(f, cards), nil
}

// newest puts the changed children among the cards of others.
func (n recent) newest(f *childrenChange, cards []map[string]json.RawMessage) []map[string]json.RawMessage {
	for _, d := range f.after {
		if d != nil {
			cards = append(cards, d.Fields)
		}
	}
	cards = slices.DeleteFunc(cards, func(card map[string]json.RawMessage) bool { return n.fits(card) != nil }) // the keeper tells of it
	slices.SortFunc(cards, func(a, b map[string]json.RawMessage) int { return strings.Compare(idOf(b), idOf(a)) })
	return cards[:min(len(cards), n.n)]
}

func idOf(members map[string]json.RawMessage) string { return holder{members: members}.text("id") }

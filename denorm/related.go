package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// kin keeps what a species knows of the documents that refer to it: how many
// there are, and the newest of them.
type kin struct {
	parent, child *member
	ref           *tenantitem.Field // of the child
	counts        []*tenantitem.Field
	recents       []recent
	// near says that parent and child may share a logical partition.
	near bool
}

// recent is a field that holds the newest documents as cards.
type recent struct {
	field *tenantitem.Field
	n     int
	// card are the members of a card, which are members of the child too.
	card []string
}

func (r *kin) holder() *member { return r.parent }

func (r *kin) fields() []string {
	var names []string
	for _, f := range r.counts {
		names = append(names, topOf(f.Path))
	}
	for _, n := range r.recents {
		names = append(names, topOf(n.field.Path))
	}
	return distinct(names)
}

// affected returns the documents that the children refer to, and those that
// they referred to until lately.
func (r *kin) affected(ctx context.Context, tenant string, _ *member, changed []repository.Document, yield func([]repository.Document) error) error {
	var ids []string
	for _, d := range changed {
		ids = append(ids, refsIn(d.Fields, r.ref)...)
		ids = append(ids, movedOf(d)[r.ref.Path]...)
	}
	parents, err := read(ctx, r.parent, tenant, ids, r.fields())
	if err != nil || len(parents) == 0 {
		return err
	}
	return yield(values(parents))
}

// check asks for the children of each parent. The parents were read before,
// so that a count which another one overtook meets another etag.
func (r *kin) check(ctx context.Context, tenant string, docs []repository.Document, _ bool) ([]finding, error) {
	tally, err := r.tally(ctx, tenant, docs)
	if err != nil {
		return nil, err
	}
	var found []finding
	for i, d := range docs {
		for _, f := range r.counts {
			if found, err = compareWith(found, d, f, json.RawMessage(strconv.FormatInt(tally[i], 10))); err != nil {
				return nil, err
			}
		}
		for _, n := range r.recents {
			cards := json.RawMessage("[]")
			if tally[i] != 0 {
				if cards, err = r.newest(ctx, tenant, r.child.keyOfRef(r.ref.Path, d.ID), d.ID, n); err != nil {
					return nil, err
				}
			}
			if found, err = compareWith(found, d, n.field, cards); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// tally counts the children of each parent: those of many with one query.
// Where nobody wants to know, and one query would not tell, a child is
// supposed.
func (r *kin) tally(ctx context.Context, tenant string, docs []repository.Document) ([]int64, error) {
	tally := make([]int64, len(docs))
	if len(docs) > 1 && r.ref.Kind == tenantitem.KindString {
		ids := make([]any, len(docs))
		for i, d := range docs {
			ids[i] = d.ID
		}
		counts, err := r.child.docs.CountBy(ctx, tenant, r.ref.Path, repository.Where(repository.In(r.ref.Path, ids...), repository.Missing("deletedAt")))
		for i, d := range docs {
			tally[i] = counts[d.ID]
		}
		return tally, err
	}
	for i, d := range docs {
		if len(r.counts) == 0 {
			tally[i] = 1
			continue
		}
		n, err := r.child.docs.Count(ctx, tenant, r.child.keyOfRef(r.ref.Path, d.ID), r.of(d.ID))
		if err != nil {
			return nil, err
		}
		tally[i] = n
	}
	return tally, nil
}

// of looks for the living documents that refer to one.
func (r *kin) of(id string) repository.Query {
	refers := repository.Eq(r.ref.Path, id)
	if r.ref.Kind == tenantitem.KindArray {
		refers = repository.Contains(r.ref.Path, id)
	}
	return repository.Where(refers, repository.Missing("deletedAt"))
}

// newest returns the cards of the newest documents that refer to one, as the
// parent's field stores them.
func (r *kin) newest(ctx context.Context, tenant string, key []any, id string, n recent) (json.RawMessage, error) {
	cards := make([]map[string]json.RawMessage, 0, n.n)
	for d, err := range r.child.docs.Documents(ctx, tenant, key, r.of(id).OrderByDesc("id").Limit(n.n), n.card...) {
		if err != nil {
			return nil, err
		}
		cards = append(cards, d.Fields)
	}
	return r.store(n, cards)
}

// store writes cards as the parent's field stores them; members that are not
// on a card are dropped.
func (r *kin) store(n recent, cards []map[string]json.RawMessage) (json.RawMessage, error) {
	if cards == nil {
		cards = []map[string]json.RawMessage{}
	}
	raw, err := repository.EncodeValue(cards)
	if err != nil {
		return nil, err
	}
	into := reflect.New(n.field.Type)
	if err := repository.DecodeValue(raw, into.Interface()); err != nil {
		return nil, fmt.Errorf("denorm: a %s does not fit the cards in %s.%s: %w", r.child.name(), r.parent.name(), n.field.Path, err)
	}
	return repository.EncodeValue(into.Interface())
}

// compareWith adds a finding when a document's field is not what was computed.
func compareWith(found []finding, d repository.Document, f *tenantitem.Field, want json.RawMessage) ([]finding, error) {
	have := memberAt(d.Fields, f.Path)
	same, err := sameValue(f.Type, have, want)
	if err != nil {
		return nil, fmt.Errorf("denorm: %s of document %q: %w", f.Path, d.ID, err)
	}
	if same {
		return found, nil
	}
	return append(found, finding{doc: d, field: f.Path, pointer: "/" + escapePointer(f.Path), have: have, want: want}), nil
}

// movedOf returns the references that a document had until lately, by field.
func movedOf(d repository.Document) map[string][]string {
	raw, ok := d.Fields[repository.MovedField]
	if !ok {
		return nil
	}
	var moved map[string][]string
	if repository.DecodeValue(raw, &moved) != nil {
		return nil
	}
	return moved
}

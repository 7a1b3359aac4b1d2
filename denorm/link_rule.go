package denorm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// leading keeps the side that leads: it follows the pending links of the other side,
// and gives up documents that are gone.
type leading struct{ *link }

func (r leading) holder() *entityType { return r.lead }
func (r leading) fields() []string    { return []string{r.leadField.Path} }
func (r leading) follows() []edge {
	return []edge{{to: typeField{r.lead, r.leadField.Path}, from: typeField{r.other, pendingLinksField}}}
}

func (r leading) declared() []string { return nil }

func (r leading) affected(ctx context.Context, tenant string, _ *entityType, changed []engine.Document, yield func([]engine.Document) error) error {
	var ids []string
	for _, d := range changed {
		w := pendingLinksIn(d.Fields)[r.otherField.Path]
		ids = append(append(ids, w.Add...), w.Remove...)
		if d.DeletedAt != "" {
			q := engine.Where(engine.Contains(r.leadField.Path, d.ID), engine.Missing("deletedAt"))
			if err := inChunks(r.lead.docs.Documents(ctx, tenant, nil, q, engine.Fields(r.fields()...)), yield); err != nil {
				return err
			}
		}
	}
	docs, err := read(ctx, r.lead, tenant, ids, r.fields())
	if err != nil || len(docs) == 0 {
		return err
	}
	return yield(values(docs))
}

func (r leading) check(ctx context.Context, tenant string, docs []engine.Document, strict bool) ([]finding, error) {
	want := make([]map[string]bool, len(docs))
	var ids []string
	for i, d := range docs {
		want[i] = map[string]bool{}
		for _, id := range refsIn(d.Fields, r.leadField) {
			want[i][id] = true
			ids = append(ids, id)
		}
	}
	others, err := read(ctx, r.other, tenant, ids, []string{pendingLinksField})
	if err != nil {
		return nil, err
	}
	for i := range want {
		for id := range want[i] {
			if other, seen := others[id]; seen && other.DeletedAt != "" || !seen && strict {
				delete(want[i], id)
			}
		}
	}
	at := make(map[string]int, len(docs))
	for i, d := range docs {
		at[d.ID] = i
	}
	for chunk := range slices.Chunk(docs, maxConditions) {
		for other, err := range r.other.docs.Documents(ctx, tenant, nil, r.withPending(chunk), engine.Fields(pendingLinksField)) {
			if err != nil {
				return nil, err
			}
			w := pendingLinksIn(other.Fields)[r.otherField.Path]
			for _, id := range w.Add {
				if i, asked := at[id]; asked {
					want[i][other.ID] = true
				}
			}
			for _, id := range w.Remove {
				if i, asked := at[id]; asked {
					delete(want[i], other.ID)
				}
			}
		}
	}
	var found []finding
	for i, d := range docs {
		if found, err = listing(found, d, r.leadField, want[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// withPending looks for documents of the other side with pending links to these.
func (r leading) withPending(docs []engine.Document) engine.Query {
	w := conditions{}
	list := fieldSQL("c", pendingLinksField, r.otherField.Path)
	for _, d := range docs {
		id := w.param(d.ID)
		w.any = append(w.any, fmt.Sprintf(`ARRAY_CONTAINS(%s["add"], %s) OR ARRAY_CONTAINS(%s["remove"], %s)`, list, id, list, id))
	}
	return engine.SQL(strings.Join(w.any, " OR "), w.params...).And(engine.Missing("deletedAt"))
}

// following keeps the other side: what the leading documents say.
type following struct{ *link }

func (r following) holder() *entityType { return r.other }
func (r following) fields() []string    { return []string{r.otherField.Path, pendingLinksField} }
func (r following) follows() []edge {
	return []edge{{to: typeField{r.other, r.otherField.Path}, from: typeField{r.lead, r.leadField.Path}}}
}

func (r following) declared() []string { return nil }

func (r following) affected(ctx context.Context, tenant string, _ *entityType, changed []engine.Document, yield func([]engine.Document) error) error {
	var ids []string
	for chunk := range slices.Chunk(changed, maxConditions) {
		some := make([]engine.Predicate, 0, len(chunk))
		for _, d := range chunk {
			some = append(some, engine.Contains(r.otherField.Path, d.ID))
			if d.DeletedAt == "" {
				ids = append(ids, refsIn(d.Fields, r.leadField)...)
			}
		}
		listers := engine.Where(engine.Or(some...), engine.Missing("deletedAt"))
		if err := inChunks(r.other.docs.Documents(ctx, tenant, nil, listers, engine.Fields(r.fields()...)), yield); err != nil {
			return err
		}
	}
	docs, err := read(ctx, r.other, tenant, ids, r.fields())
	if err != nil || len(docs) == 0 {
		return err
	}
	return yield(values(docs))
}

func (r following) check(ctx context.Context, tenant string, docs []engine.Document, _ bool) ([]finding, error) {
	want := map[string]map[string]bool{}
	for _, d := range docs {
		want[d.ID] = map[string]bool{}
	}
	for chunk := range slices.Chunk(docs, maxConditions) {
		some := make([]engine.Predicate, len(chunk))
		for i, d := range chunk {
			some[i] = engine.Contains(r.leadField.Path, d.ID)
		}
		q := engine.Where(engine.Or(some...), engine.Missing("deletedAt"))
		for lead, err := range r.lead.docs.Documents(ctx, tenant, nil, q, engine.Fields(r.leadField.Path)) {
			if err != nil {
				return nil, err
			}
			for _, id := range refsIn(lead.Fields, r.leadField) {
				if want[id] != nil {
					want[id][lead.ID] = true
				}
			}
		}
	}
	var found []finding
	var err error
	for _, d := range docs {
		w := pendingLinksIn(d.Fields)[r.otherField.Path]
		for _, id := range w.Add {
			want[d.ID][id] = true
		}
		for _, id := range w.Remove {
			delete(want[d.ID], id)
		}
		if found, err = listing(found, d, r.otherField, want[d.ID]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// merge returns the list that holds what is wanted, with what stays in its old
// order and what is new behind it.
func merge(have []string, want map[string]bool) []string {
	out := make([]string, 0, len(want))
	seen := map[string]bool{}
	for _, id := range have {
		if want[id] && !seen[id] {
			out = append(out, id)
			seen[id] = true
		}
	}
	var more []string
	for id := range want {
		if !seen[id] {
			more = append(more, id)
		}
	}
	return append(out, distinct(more)...)
}

// listing is a finding when a document does not list these ids.
func listing(found []finding, d engine.Document, f *tenantitem.Field, want map[string]bool) ([]finding, error) {
	if _, err := canonical(f.Type, d.Fields[f.Path]); err != nil {
		pointer := "/" + escapePointer(f.Path)
		return append(found, finding{doc: d, field: f.Path, pointer: pointer, have: d.Fields[f.Path], unrepairable: fmt.Errorf("denorm: what is stored at %s: %w", pointer, err)}), nil
	}
	have := refsIn(d.Fields, f)
	list := merge(have, want)
	if slices.Equal(have, list) {
		return found, nil
	}
	raw, err := engine.EncodeValue(list)
	if err != nil {
		return nil, err
	}
	return append(found, finding{doc: d, field: f.Path, pointer: "/" + escapePointer(f.Path), have: d.Fields[f.Path], want: raw}), nil
}

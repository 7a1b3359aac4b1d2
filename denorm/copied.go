package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// group is a reference and the copies that are made through it, side by side
// in one struct.
type group struct {
	ref    *tenantitem.Field
	steps  []step
	source *member
	syncs  []copied
	snaps  []copied
	gone   DeleteAction
}

// copied is one field with a denorm tag.
type copied struct {
	field *tenantitem.Field
	// source is the path of the source's field.
	source string
	// empty is how the field is stored when it holds nothing.
	empty json.RawMessage
}

// wants returns what the field should hold by its source's members.
func (c copied) wants(source map[string]json.RawMessage) json.RawMessage {
	if raw := memberAt(source, c.source); raw != nil {
		return raw
	}
	return c.empty
}

// sourceFields are the top-level members of the source that are copied.
func (g *group) sourceFields() []string {
	var names []string
	for _, c := range slices.Concat(g.syncs, g.snaps) {
		names = append(names, topOf(c.source))
	}
	return distinct(names)
}

// copies keeps the synced copies of one source's fields in one species.
type copies struct {
	target, source *member
	groups         []*group
}

func (r *copies) holder() *member { return r.target }

func (r *copies) fields() []string {
	var names []string
	for _, g := range r.groups {
		names = append(names, topOf(g.ref.Path))
		for _, c := range slices.Concat(g.syncs, g.snaps) {
			names = append(names, topOf(c.field.Path))
		}
	}
	return distinct(names)
}

// check reads all sources that the documents refer to, once, and compares.
func (r *copies) check(ctx context.Context, tenant string, docs []repository.Document, strict bool) ([]finding, error) {
	type held struct {
		doc   repository.Document
		group *group
		in    holder
	}
	var all []held
	var ids, fields []string
	for _, g := range r.groups {
		fields = append(fields, g.sourceFields()...)
		for _, d := range docs {
			holders, err := holdersIn(d.Fields, g.steps, "", nil)
			if err != nil {
				return nil, err
			}
			for _, h := range holders {
				all = append(all, held{d, g, h})
				ids = append(ids, h.text(g.ref.Name))
			}
		}
	}
	sources, err := read(ctx, r.source, tenant, ids, distinct(fields))
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, h := range all {
		id := h.in.text(h.group.ref.Name)
		source, exists := sources[id]
		alive := exists && source.DeletedAt == ""
		switch {
		case id == "" || alive:
		case h.group.gone != Clear || !exists && !strict:
			continue // what was copied stays
		default:
			found = append(found, finding{doc: h.doc, field: h.group.ref.Path, pointer: h.in.pointer + "/" + escapePointer(h.group.ref.Name), have: h.in.members[h.group.ref.Name], want: emptyText})
		}
		for _, c := range h.group.syncs {
			f, err := c.compare(h.doc, h.in, source.Fields, alive)
			if err != nil {
				return nil, err
			}
			found = append(found, f...)
		}
		if !alive {
			continue
		}
		for _, c := range h.group.snaps {
			if h.in.members[c.field.Name] != nil {
				continue // what it holds was true when it was written
			}
			f, err := c.compare(h.doc, h.in, source.Fields, true)
			if err != nil {
				return nil, err
			}
			for i := range f {
				f[i].filling = true
			}
			found = append(found, f...)
		}
	}
	return found, nil
}

// compare returns a finding when the copy is not what its source says.
func (c copied) compare(doc repository.Document, in holder, source map[string]json.RawMessage, alive bool) ([]finding, error) {
	want, have := c.empty, in.members[c.field.Name]
	if alive {
		want = c.wants(source)
	}
	same, err := sameValue(c.field.Type, have, want)
	if err != nil {
		return nil, fmt.Errorf("denorm: %s of document %q, or its source's %s: %w", c.field.Path, doc.ID, c.source, err)
	}
	if same {
		return nil, nil
	}
	return []finding{{doc: doc, field: c.field.Path, pointer: in.pointer + "/" + escapePointer(c.field.Name), have: have, want: want}}, nil
}

// maxConditions bounds how many sources are looked for by one query.
const maxConditions = 40

// affected asks for the documents that refer to a changed source and hold
// another value than it has: a change of fields that nobody copies finds
// nothing.
func (r *copies) affected(ctx context.Context, tenant string, _ *member, changed []repository.Document, yield func([]repository.Document) error) error {
	w := conditions{}
	flush := func() error {
		if len(w.any) == 0 {
			return nil
		}
		q := repository.SQL(strings.Join(w.any, " OR "), w.params...).And(repository.Missing("deletedAt"))
		w = conditions{}
		return inChunks(r.target.docs.Documents(ctx, tenant, nil, q, r.fields()...), yield)
	}
	for _, d := range changed {
		for _, g := range r.groups {
			w.add(g, d)
			if len(w.any) >= maxConditions {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// conditions collects what one query looks for.
type conditions struct {
	any    []string
	params []repository.Param
}

func (w *conditions) param(v any) string {
	name := fmt.Sprintf("v%d", len(w.params))
	w.params = append(w.params, repository.P(name, v))
	return "@" + name
}

// add writes "refers to this source and differs from it" for one group.
func (w *conditions) add(g *group, source repository.Document) {
	switch {
	case source.DeletedAt != "" && g.gone == Clear:
		w.refers(g, source.ID, "")
	case source.DeletedAt == "" && len(g.syncs) > 0:
		w.refers(g, source.ID, w.differs(g, source))
	}
}

// refers writes that a document refers to another, and a further condition on
// the object that does, which holderMark stands for in it.
func (w *conditions) refers(g *group, id, also string) {
	alias, from := "c", ""
	for i, s := range g.steps {
		at := fieldSQL(alias, s.name)
		if !s.array {
			alias = at
			continue
		}
		alias = fmt.Sprintf("h%d", i)
		if from != "" {
			from += " JOIN "
		}
		from += alias + " IN " + at
	}
	condition := fieldSQL(alias, g.ref.Name) + " = " + w.param(id)
	if also != "" {
		condition += " AND (" + strings.ReplaceAll(also, holderMark, alias) + ")"
	}
	if from != "" {
		condition = "EXISTS(SELECT VALUE 1 FROM " + from + " WHERE " + condition + ")"
	}
	w.any = append(w.any, "("+condition+")")
}

// holderMark stands for the holder of a copy until its alias is known.
const holderMark = "\x00"

// differs compares in the query, as far as the query language can: what it
// finds is compared again. A member that is missing is undefined there, and so
// is a comparison with it; ?? says what that means.
func (w *conditions) differs(g *group, source repository.Document) string {
	var some []string
	for _, c := range g.syncs {
		want := c.wants(source.Fields)
		isEmpty, err := sameValue(c.field.Type, want, nil)
		unless := "false"
		if err == nil && isEmpty {
			unless = "true"
		}
		some = append(some, fmt.Sprintf("NOT ((%s = %s) ?? %s)", fieldSQL(holderMark, c.field.Name), w.param(want), unless))
	}
	return strings.Join(some, " OR ")
}

// referring finds the documents that refer to one through a group.
func (r *copies) referring(ctx context.Context, tenant string, g *group, id string, yield func([]repository.Document) error) error {
	w := conditions{}
	w.refers(g, id, "")
	q := repository.SQL(w.any[0], w.params...).And(repository.Missing("deletedAt")).Limit(1)
	return inChunks(r.target.docs.Documents(ctx, tenant, nil, q), yield)
}

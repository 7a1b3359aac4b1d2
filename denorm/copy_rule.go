package denorm

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// copyRule keeps the copies of one source's fields in one entity type: it finds
// which are stale. A change of the source comes in by follow.go, which asks every
// rule, and has what is stale patched.
type copyRule struct {
	target, source *entityType
	groups         []*group
}

func (r *copyRule) holder() *entityType { return r.target }

func (r *copyRule) fields() []string {
	var names []string
	for _, g := range r.groups {
		names = append(names, topOf(g.ref.Path))
		for _, c := range g.copies {
			names = append(names, topOf(c.field.Path))
		}
	}
	return distinct(names)
}

func (r *copyRule) follows() []edge {
	var edges []edge
	for _, g := range r.groups {
		ref := typeField{r.target, topOf(g.ref.Path)}
		for _, c := range g.copies {
			at := typeField{r.target, topOf(c.field.Path)}
			edges = append(edges, edge{at, typeField{g.source, topOf(c.source)}, c.mode.follows()})
			if at != ref {
				edges = append(edges, edge{at, ref, false})
			}
		}
		if g.onDelete == Clear {
			edges = append(edges, edge{to: ref})
		}
	}
	return edges
}

func (r *copyRule) declared() []string {
	var texts []string
	for _, g := range r.groups {
		texts = append(texts, fmt.Sprintln(g.ref.Path, g.source.name(), g.onDelete == Clear))
		for _, c := range g.copies {
			texts = append(texts, fmt.Sprintln(c.field.Path, g.ref.Path, c.source, c.mode.follows(), c.alone))
		}
	}
	return texts
}

// heldCopy is an object of a stored document that holds copies.
type heldCopy struct {
	doc   engine.Document
	group *group
	in    holder
	ref   string
}

// checksPages: many documents refer to few sources.
func (r *copyRule) checksPages() {}

// check reads all sources that the documents refer to, once, and compares.
func (r *copyRule) check(ctx context.Context, tenant string, docs []engine.Document, strict bool) ([]finding, error) {
	var found []finding
	var all []heldCopy
	var ids, fields []string
	for _, g := range r.groups {
		fields = append(fields, g.sourceFields()...)
		for _, d := range docs {
			holders, err := holdersIn(d.Fields, g.steps, "", nil)
			if err != nil {
				found = append(found, finding{doc: d, field: g.ref.Path, pointer: "/" + escapePointer(topOf(g.ref.Path)), have: d.Fields[topOf(g.ref.Path)], unrepairable: err})
				continue
			}
			for _, h := range holders {
				id, err := textOf(h.members[g.ref.Name])
				if err != nil {
					found = append(found, finding{doc: d, field: g.ref.Path, pointer: h.at(g.ref.Name), have: h.members[g.ref.Name], unrepairable: fmt.Errorf("denorm: the reference at %s: %w", h.at(g.ref.Name), err)})
					continue
				}
				all = append(all, heldCopy{d, g, h, id})
				ids = append(ids, id)
			}
		}
	}
	sources, err := read(ctx, r.source, tenant, ids, distinct(fields))
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		source, exists := sources[h.ref]
		found = h.compare(found, &source, exists, strict)
	}
	return found, nil
}

// compare adds what the object does not hold as its source says.
func (h *heldCopy) compare(found []finding, source *engine.Document, exists, strict bool) []finding {
	if !exists || source.DeletedAt != "" {
		source = nil
	}
	switch {
	case h.ref == "" || source != nil:
	case h.group.onDelete != Clear || !exists && !strict:
		return found // what was copied stays
	default:
		name := h.group.ref.Name
		found = append(found, finding{doc: h.doc, field: h.group.ref.Path, pointer: h.in.at(name), have: h.in.members[name], want: emptyText})
	}
	for _, c := range h.group.copies {
		want, unset, ok := c.mode.stored(c, h.in, source)
		if !ok {
			continue
		}
		f := finding{doc: h.doc, field: c.field.Path, pointer: h.in.at(c.field.Name), have: h.in.members[c.field.Name], want: want, unset: unset}
		same, err := c.same(f.have, want)
		if err != nil {
			f.want, f.unrepairable = nil, fmt.Errorf("denorm: the copy at %s, or %s of its source %q: %w", f.pointer, c.source, h.ref, err)
		}
		if !same {
			found = append(found, f)
		}
	}
	return found
}

// maxConditions bounds how many sources are looked for by one query.
const maxConditions = 40

// affected asks for the documents that refer to a changed source and hold
// another value than it has: a change of fields that are not copied finds
// nothing.
func (r *copyRule) affected(ctx context.Context, tenant string, _ *entityType, changed []engine.Document, yield func([]engine.Document) error) error {
	w := conditions{}
	flush := func() error {
		if len(w.any) == 0 {
			return nil
		}
		q := engine.SQL(strings.Join(w.any, " OR "), w.params...).And(engine.Missing("deletedAt"))
		w = conditions{}
		return inChunks(r.target.docs.Documents(ctx, tenant, nil, q, engine.Fields(r.fields()...)), yield)
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
	params []engine.Param
}

func (w *conditions) param(v any) string {
	name := fmt.Sprintf("v%d", len(w.params))
	w.params = append(w.params, engine.P(name, v))
	return "@" + name
}

// add writes "refers to this source and differs from it" for one group.
func (w *conditions) add(g *group, source engine.Document) {
	switch {
	case source.DeletedAt != "" && g.onDelete == Clear:
		w.refers(g, source.ID, "")
	case source.DeletedAt == "" && g.follows():
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
	if g.ref.Kind == tenantitem.KindArray {
		condition = "ARRAY_CONTAINS(" + fieldSQL(alias, g.ref.Name) + ", " + w.param(id) + ")"
	}
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
// finds is compared again. A comparison with a member that is missing, or of another
// type, as null is of a text's, is undefined there; ?? says what that means.
func (w *conditions) differs(g *group, source engine.Document) string {
	var some []string
	for _, c := range g.copies {
		if !c.mode.follows() {
			continue
		}
		want, at := c.wants(&source), fieldSQL(holderMark, c.field.Name)
		isEmpty, err := c.same(want, nil)
		unless := "false"
		if err == nil && isEmpty {
			unless = "(NOT IS_DEFINED(" + at + ") OR IS_NULL(" + at + "))" // nothing there is nothing
		}
		some = append(some, fmt.Sprintf("NOT ((%s = %s) ?? %s)", at, w.param(want), unless))
	}
	return strings.Join(some, " OR ")
}

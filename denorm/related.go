package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// related keeps what an entity type knows of the documents that refer to it
// through one field: how many there are (count.go), the newest of them
// (recent.go).
type related struct {
	parent, child *entityType
	ref           *tenantitem.Field // of the child
	derived       []derived
	// samePartition says that parent and child may share a logical partition.
	samePartition bool
}

// derived is one field of a parent that is computed from what refers to it.
type derived interface {
	// keeps is the parent's field.
	keeps() *tenantitem.Field
	// needs are the child's members that it is computed from, and counts says
	// that it needs the number of children.
	needs() []string
	counts() bool
	// limit is how many of the children it shows; 0 for what shows none.
	limit() int
	// compute asks for what is stored; n is the number of children, 0 only if
	// there is none. It leaves out the misfits.
	compute(ctx context.Context, r *related, tenant, parent string, n int64) (want json.RawMessage, misfits []misfit, err error)
	// change changes it in the transaction of its children; blindWrite says that
	// it can do so without having read the parent.
	change(ctx context.Context, tx *transaction, f *childrenChange, t *target) error
	blindWrite() bool
}

// misfit is a child that something else wrote, and that the parent can't show.
type misfit struct {
	doc    engine.Document
	reason error
}

// relatedTo finds the rule for one reference or makes it, and adds a field to
// what it keeps.
func (s *schema) relatedTo(d Declaration, parent, child *entityType, ref *tenantitem.Field, what derived) error {
	if child.expires() {
		return refuse(d, fmt.Sprintf("documents of %s expire, which nobody gets to know", child.name()), "delete them instead of letting them expire, or ask for them with a query")
	}
	if err := parent.claim(d, what.keeps()); err != nil {
		return err
	}
	parent.computed = append(parent.computed, what.keeps())
	parent.guard(what.keeps(), "it is computed", "leave it to the keeper")
	for _, r := range s.rules {
		if r, ok := r.(*related); ok && r.parent == parent && r.child == child && r.ref == ref {
			r.derived = append(r.derived, what)
			return nil
		}
	}
	r := &related{parent: parent, child: child, ref: ref, derived: []derived{what}}
	s.rules = append(s.rules, r)
	child.followers = append(child.followers, r)
	child.track(ref)
	child.keepTombstones(fmt.Sprintf("%s keeps account of its documents, deletes included", parent.name()))
	return nil
}

// findRef finds the field of the child that refers to the parent: the one that
// the declaration names, or the only one.
func findRef(d Declaration, parent, child *entityType, named ...string) (*tenantitem.Field, error) {
	parentType := parent.entity.Model.Type
	if len(named) > 1 {
		return nil, refuse(d, "it names several reference fields", "name one")
	}
	if len(named) == 1 {
		f, ok := child.entity.Model.Field(named[0])
		if !ok {
			return nil, fmt.Errorf("%s: %w", d, child.entity.Model.UnknownField(named[0]))
		}
		if f.Refers != parentType || f.Array() != nil {
			return nil, refuse(d, fmt.Sprintf("%q of %s is not a reference to %s outside arrays of objects", f.Path, child.name(), parent.name()), fmt.Sprintf("declare it as tenantitem.Ref[%s]", plainName(parentType)))
		}
		return f, child.checkPath(d, f)
	}
	var fields []*tenantitem.Field
	for _, f := range child.entity.Model.References() {
		if f.Refers == parentType && f.Array() == nil {
			fields = append(fields, f)
		}
	}
	switch len(fields) {
	case 0:
		return nil, refuse(d, fmt.Sprintf("%s does not refer to %s", child.name(), parent.name()), fmt.Sprintf("give it a field of type tenantitem.Ref[%s]", plainName(parentType)))
	case 1:
		return fields[0], child.checkPath(d, fields[0])
	}
	return nil, refuse(d, fmt.Sprintf("%s refers to %s in several fields", child.name(), parent.name()), "name one of them behind n")
}

func (r *related) holder() *entityType { return r.parent }

func (r *related) fields() []string {
	var names []string
	for _, d := range r.derived {
		names = append(names, topOf(d.keeps().Path))
	}
	return distinct(names)
}

func (r *related) follows() []edge {
	var edges []edge
	for _, d := range r.derived {
		at := typeField{r.parent, topOf(d.keeps().Path)}
		edges = append(edges, edge{at, typeField{r.child, topOf(r.ref.Path)}, false})
		for _, name := range d.needs() {
			edges = append(edges, edge{at, typeField{r.child, name}, true})
		}
	}
	return edges
}

func (r *related) declared() []string {
	var texts []string
	for _, d := range r.derived {
		texts = append(texts, fmt.Sprintln(d.keeps().Path, d.keeps().Type, r.child.name(), r.ref.Path, d.limit()))
	}
	return texts
}

// affected returns the documents that the children refer to, and those that
// they referred to until lately.
func (r *related) affected(ctx context.Context, tenant string, _ *entityType, changed []engine.Document, yield func([]engine.Document) error) error {
	var ids []string
	for _, d := range changed {
		ids = append(ids, refsIn(d.Fields, r.ref)...)
		ids = append(ids, formerRefs(d, r.ref)...)
	}
	parents, err := read(ctx, r.parent, tenant, ids, r.fields())
	if err != nil || len(parents) == 0 {
		return err
	}
	return yield(values(parents))
}

// check asks for the children of each parent. The parents were read before,
// so that a count which another one overtook meets another etag.
func (r *related) check(ctx context.Context, tenant string, docs []engine.Document, _ bool) ([]finding, error) {
	numbers, err := r.numbers(ctx, tenant, docs)
	if err != nil {
		return nil, err
	}
	var found []finding
	for i, doc := range docs {
		for _, d := range r.derived {
			want, misfits, err := d.compute(ctx, r, tenant, doc.ID, numbers[i])
			if err != nil {
				return nil, err
			}
			for _, m := range misfits {
				found = append(found, finding{doc: m.doc, of: r.child, unrepairable: m.reason})
			}
			found = compareWith(found, doc, d.keeps(), want)
		}
	}
	return found, nil
}

// numbers counts the children of each parent: those of many with one query.
// Where no field needs the number, and one query would not tell it, one child is
// assumed.
func (r *related) numbers(ctx context.Context, tenant string, docs []engine.Document) ([]int64, error) {
	numbers := make([]int64, len(docs))
	if len(docs) > 1 && r.ref.Kind == tenantitem.KindString {
		ids := make([]any, len(docs))
		for i, d := range docs {
			ids[i] = d.ID
		}
		counts, err := r.child.docs.CountBy(ctx, tenant, r.ref.Path, engine.Where(engine.In(r.ref.Path, ids...), engine.Missing("deletedAt")))
		for i, d := range docs {
			numbers[i] = counts[d.ID]
		}
		return numbers, err
	}
	for i, d := range docs {
		if !slices.ContainsFunc(r.derived, derived.counts) {
			numbers[i] = 1
			continue
		}
		n, err := r.child.docs.Count(ctx, tenant, r.child.keyOfRef(r.ref.Path, d.ID), r.of(d.ID))
		if err != nil {
			return nil, err
		}
		numbers[i] = n
	}
	return numbers, nil
}

// of looks for the living documents that refer to one.
func (r *related) of(id string) engine.Query {
	refers := engine.Eq(r.ref.Path, id)
	if r.ref.Kind == tenantitem.KindArray {
		refers = engine.Contains(r.ref.Path, id)
	}
	return engine.Where(refers, engine.Missing("deletedAt"))
}

// compareWith adds a finding when a document's field is not what was computed.
func compareWith(found []finding, d engine.Document, f *tenantitem.Field, want json.RawMessage) []finding {
	at := finding{doc: d, field: f.Path, pointer: "/" + escapePointer(f.Path), have: memberAt(d.Fields, f.Path), want: want}
	same, err := sameValue(f.Type, at.have, want)
	if err != nil {
		at.want, at.unrepairable = nil, fmt.Errorf("denorm: what is stored at %s: %w", at.pointer, err)
	}
	if same {
		return found
	}
	return append(found, at)
}

package registry

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// CheckRefs makes every write of a whole document look for what its fields of
// type tenantitem.Ref point to, arrays and nested objects included: one
// request for each referenced type, however many documents are written. A
// reference to nothing, or to a deleted document, is a
// [*parented.DanglingError], which is repository.ErrDanglingRef; nothing is
// written then. Empty references, and those to the document itself, are not
// looked for; what the same transaction writes counts as there. Every
// referenced type must be registered.
//
// It says what was true when the reference was written: a document that is
// deleted later leaves its references behind, and a write that leaves such a
// reference where it is goes through, at the cost of one more read. Patch is
// not checked.
func CheckRefs() Option {
	return optionFunc(func(s *entity) error {
		s.checkRefs = true
		return nil
	})
}

// checkReferences refuses references to be checked that lead to entity types which are not registered.
func (p *Plan) checkReferences() error {
	for _, s := range p.entities {
		for _, f := range s.checkedReferences() {
			if _, ok := p.entityOf(f.Refers); !ok {
				return conflict(fmt.Sprintf("%s checks its references, and %q points to %s, which is not registered", s, f.Path, f.Refers.Name()), fmt.Sprintf("add registry.Entity[%s]()", f.Refers.Name()))
			}
		}
	}
	return nil
}

// checkedReferences are the fields of an entity type that asked for the check; a child's writes look at
// its parent anyway.
func (s *entity) checkedReferences() (fields []*tenantitem.Field) {
	if !s.checkRefs {
		return nil
	}
	for _, f := range s.Model.References() {
		if s.Parent == nil || f.Refers != s.Parent || f.Path != "parentId" {
			fields = append(fields, f)
		}
	}
	return fields
}

// guardRefs attaches the check to an entity type that asked for it.
func (db *Database) guardRefs(s *entity) error {
	if !s.checkRefs {
		return nil
	}
	return s.Collection.SetFiller(engine.OwnerReferences, &refCheck{db, s, s.checkedReferences()})
}

// refCheck refuses entities of a type whose references lead nowhere.
type refCheck struct {
	db     *Database
	entity *entity
	fields []*tenantitem.Field
}

// Fill looks for what the entities refer to.
func (c *refCheck) Fill(ctx context.Context, w *engine.Write) error {
	return c.db.checkRefs(ctx, c.entity, c.fields, w)
}

// reference is one that has to be found.
type reference struct {
	field  *tenantitem.Field
	id     string
	holder int // the index of the entity
}

func (db *Database) checkRefs(ctx context.Context, s *entity, fields []*tenantitem.Field, w *engine.Write) error {
	wanted := map[reflect.Type][]reference{}
	var types []reflect.Type
	for _, f := range fields {
		for i, e := range w.Entities {
			for _, id := range idsIn(f, reflect.ValueOf(e).Elem()) {
				if id == "" || f.Refers == s.Model.Type && id == metaOf(e).ID {
					continue
				}
				if wanted[f.Refers] == nil {
					types = append(types, f.Refers)
				}
				wanted[f.Refers] = append(wanted[f.Refers], reference{f, id, i})
			}
		}
	}
	for _, t := range types {
		target, _ := db.plan.entityOf(t)
		dangling, err := findAll(ctx, target, w.TenantID, wanted[t])
		if err != nil {
			return err
		}
		if err := s.stood(ctx, w, target, dangling); err != nil {
			return err
		}
	}
	return nil
}

// stood refuses dangling references, but for those that the stored document
// has in the same field: they point to what was deleted since.
func (s *entity) stood(ctx context.Context, w *engine.Write, target *entity, dangling []reference) error {
	before := map[int]reflect.Value{}
	for _, r := range dangling {
		entity, read := before[r.holder]
		if !read {
			var err error
			if entity, err = s.replaced(ctx, w, r.holder); err != nil {
				return err
			}
			before[r.holder] = entity
		}
		if !entity.IsValid() || !slices.Contains(idsIn(r.field, entity), r.id) {
			return &parented.DanglingError{Field: r.field.Path, EntityType: target.EntityType, ID: r.id}
		}
	}
	return nil
}

// replaced reads the entity that one of a write takes the place of; the zero
// value is none, or one that does not fit the struct.
func (s *entity) replaced(ctx context.Context, w *engine.Write, i int) (reflect.Value, error) {
	if w.New[i] {
		return reflect.Value{}, nil
	}
	var members any = w.Before[i]
	if w.Before[i] == nil {
		var names []string
		for _, f := range s.Model.References() {
			top, _, _ := strings.Cut(f.Path, ".")
			names = append(names, strings.TrimSuffix(top, "[]"))
		}
		slices.Sort(names)
		id := metaOf(w.Entities[i]).ID
		docs, err := s.Collection.DocumentsByID(ctx, w.TenantID, s.Collection.KeyOf(w.Entities[i]), []string{id}, slices.Compact(names)...)
		if err != nil {
			return reflect.Value{}, err
		}
		d, ok := docs[id]
		if !ok || d.DeletedAt != "" {
			return reflect.Value{}, nil
		}
		members = d.Fields
	}
	raw, err := engine.EncodeValue(members)
	if err != nil {
		return reflect.Value{}, err
	}
	entity := reflect.New(s.Model.Type)
	if err := engine.DecodeValue(raw, entity.Interface()); err != nil {
		return reflect.Value{}, nil //nolint:nilerr // another writer's document has no references that could stand
	}
	return entity.Elem(), nil
}

// idsIn returns the ids that a field holds in one entity.
func idsIn(f *tenantitem.Field, entity reflect.Value) []string {
	var ids []string
	f.Holders(entity, func(holder reflect.Value) {
		v, ok := f.In(holder)
		if !ok {
			return
		}
		if f.Kind != tenantitem.KindArray {
			ids = append(ids, v.String())
			return
		}
		for i := range v.Len() {
			if elem := reflect.Indirect(v.Index(i)); elem.IsValid() {
				ids = append(ids, elem.String())
			}
		}
	})
	return ids
}

// maxRefsPerQuery keeps the text of a query by ids short.
const maxRefsPerQuery = 500

// findAll returns the references, in order, that point nowhere.
func findAll(ctx context.Context, target *entity, tenant string, refs []reference) (dangling []reference, err error) {
	found := map[string]bool{}
	var stored []reference
	for _, r := range refs {
		if err := tenantitem.ValidateID(r.id); err != nil {
			return nil, fmt.Errorf("reference %s: %w", r.field.Path, err)
		}
		if entity, _, sibling := target.Collection.Sibling(ctx, r.id); sibling {
			found[r.id] = entity != nil
		} else {
			stored = append(stored, r)
		}
	}
	switch {
	case len(stored) == 0:
	case slices.IndexFunc(stored, func(r reference) bool { return r.id != stored[0].id }) < 0:
		outline, err := target.Collection.Outline(ctx, tenant, nil, stored[0].id)
		if err != nil && !errors.Is(err, repository.ErrNotFound) {
			return nil, err
		}
		found[stored[0].id] = err == nil && outline.DeletedAt == ""
	default:
		if err := lookUp(ctx, target, tenant, stored, found); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(refs, func(r reference) bool { return found[r.id] }), nil
}

func lookUp(ctx context.Context, target *entity, tenant string, refs []reference, found map[string]bool) error {
	ids := make([]any, 0, len(refs))
	seen := map[string]bool{}
	for _, r := range refs {
		if !seen[r.id] {
			seen[r.id] = true
			ids = append(ids, r.id)
		}
	}
	for chunk := range slices.Chunk(ids, maxRefsPerQuery) {
		for outline, err := range target.Collection.Documents(ctx, tenant, nil, engine.Where(engine.In("id", chunk...)), engine.Outline()) {
			if err != nil {
				return err
			}
			found[outline.ID] = found[outline.ID] || outline.DeletedAt == ""
		}
	}
	return nil
}

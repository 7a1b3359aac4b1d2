package registry

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

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
// looked for. Every referenced type must be registered.
//
// It says what was true at the write: a document that is deleted later leaves
// its references behind. Patch is not checked.
func CheckRefs() Option {
	return optionFunc(func(s *Species) error {
		s.checkRefs = true
		return nil
	})
}

// guardRefs attaches the check to a species that asked for it.
func (db *Database) guardRefs(s *Species) error {
	if !s.checkRefs {
		return nil
	}
	var fields []*tenantitem.Field
	for _, f := range s.Model.References() {
		if s.Parent != nil && f.Refers == s.Parent && f.Path == "parentId" {
			continue // a child's writes look at the parent anyway
		}
		if _, ok := db.plan.SpeciesOf(f.Refers); !ok {
			return conflict(fmt.Sprintf("%s checks its references, and %q points to %s, which is not registered", s, f.Path, f.Refers.Name()), fmt.Sprintf("add registry.Entity[%s]()", f.Refers.Name()))
		}
		fields = append(fields, f)
	}
	s.Attach(repository.Hooks{BeforeWrite: []func(context.Context, string, []any) error{
		func(ctx context.Context, tenant string, entities []any) error {
			return db.checkRefs(ctx, s, tenant, fields, entities)
		},
	}})
	return nil
}

// reference is one that has to be found.
type reference struct {
	field *tenantitem.Field
	id    string
}

func (db *Database) checkRefs(ctx context.Context, s *Species, tenant string, fields []*tenantitem.Field, entities []any) error {
	wanted := map[reflect.Type][]reference{}
	var types []reflect.Type
	for _, f := range fields {
		for _, e := range entities {
			for _, id := range idsIn(f, reflect.ValueOf(e).Elem()) {
				if id == "" || f.Refers == s.Model.Type && id == metaOf(e).ID {
					continue
				}
				if wanted[f.Refers] == nil {
					types = append(types, f.Refers)
				}
				wanted[f.Refers] = append(wanted[f.Refers], reference{f, id})
			}
		}
	}
	for _, t := range types {
		target, _ := db.plan.SpeciesOf(t)
		if err := findAll(ctx, target, tenant, wanted[t]); err != nil {
			return err
		}
	}
	return nil
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

// findAll fails with the first reference, in order, that points nowhere.
func findAll(ctx context.Context, target *Species, tenant string, refs []reference) error {
	for _, r := range refs {
		if err := tenantitem.ValidateID(r.id); err != nil {
			return fmt.Errorf("reference %s: %w", r.field.Path, err)
		}
	}
	found := map[string]bool{}
	if slices.IndexFunc(refs, func(r reference) bool { return r.id != refs[0].id }) < 0 {
		stub, err := target.untyped.Stub(ctx, tenant, nil, refs[0].id)
		if err != nil && !errors.Is(err, repository.ErrNotFound) {
			return err
		}
		found[refs[0].id] = err == nil && stub.DeletedAt == ""
	} else if err := lookUp(ctx, target, tenant, refs, found); err != nil {
		return err
	}
	for _, r := range refs {
		if !found[r.id] {
			return &parented.DanglingError{Field: r.field.Path, EntityType: target.EntityType, ID: r.id}
		}
	}
	return nil
}

func lookUp(ctx context.Context, target *Species, tenant string, refs []reference, found map[string]bool) error {
	ids := make([]any, 0, len(refs))
	seen := map[string]bool{}
	for _, r := range refs {
		if !seen[r.id] {
			seen[r.id] = true
			ids = append(ids, r.id)
		}
	}
	for chunk := range slices.Chunk(ids, maxRefsPerQuery) {
		for stub, err := range target.untyped.Stubs(ctx, tenant, nil, repository.Where(repository.In("id", chunk...))) {
			if err != nil {
				return err
			}
			found[stub.ID] = found[stub.ID] || stub.DeletedAt == ""
		}
	}
	return nil
}

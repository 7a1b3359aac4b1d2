package parented

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Scope is the children of one parent. It may be used by many goroutines.
type Scope[C, P any] struct {
	repo   *Repository[C, P]
	tenant string
	parent tenantitem.Ref[P]
	err    error // what was wrong with Under's argument
}

// Under binds the children of a parent that was read or created before; its id
// and tenant are all that is looked at. What is wrong with them is returned by
// the first verb, as [repository.ErrInvalid].
func (r *Repository[C, P]) Under(parent *P) *Scope[C, P] {
	if parent == nil {
		return &Scope[C, P]{repo: r, err: &tenantitem.InvalidError{What: "parent", Reason: "it is nil", Hint: "pass the parent that was read, or use UnderID"}}
	}
	meta := engine.MetaOf(parent)
	return r.UnderID(meta.TenantID, tenantitem.Ref[P](meta.ID))
}

// UnderID binds the children of a parent that is known by its id.
func (r *Repository[C, P]) UnderID(tenant string, parent tenantitem.Ref[P]) *Scope[C, P] {
	s := &Scope[C, P]{repo: r, tenant: tenant, parent: parent}
	if s.err = r.checkTenant(tenant); s.err == nil {
		s.err = tenantitem.ValidateID(string(parent))
	}
	return s
}

// checkTenant checks a tenant's id; children of what belongs to none have none.
func (r *Repository[C, P]) checkTenant(tenant string) error {
	if tenant == "" && engine.CollectionOf(r.parents).IsGlobal() {
		return nil
	}
	return tenantitem.ValidateTenantID(tenant)
}

// Create stores a new child of this parent. It fills the child's reference to
// the parent, and the rest as [repository.ScopeOf.Create] does. It fails with
// [repository.ErrDanglingRef] when the parent does not exist, is being deleted,
// or is deleted at the same time; no child is left then.
func (s *Scope[C, P]) Create(ctx context.Context, child *C) error {
	if err := s.check("Create"); err != nil {
		return err
	}
	if child == nil {
		return s.fail("Create", &tenantitem.InvalidError{What: "child", Reason: "it is nil", Hint: "pass a pointer to a filled struct"})
	}
	parentID, _ := s.repo.link(child)
	if *parentID != "" && *parentID != s.parent {
		return s.fail("Create", &tenantitem.InvalidError{What: "child", Reason: "its parentId names another parent", Hint: "leave it empty, or use Move for a child that exists"})
	}
	*parentID = s.parent
	if meta := engine.MetaOf(child); meta.ID == "" {
		id, err := tenantitem.NewID() // the key may hold it
		if err != nil {
			return err
		}
		meta.ID = id
	}
	key, err := s.repo.keyOf(child)
	if err != nil {
		return s.fail("Create", err)
	}
	return s.repo.children.In(s.tenant, key...).Create(ctx, child)
}

// Get reads one child of this parent. A child of another parent is
// [repository.ErrNotFound].
func (s *Scope[C, P]) Get(ctx context.Context, id string) (*C, error) {
	if err := s.check("Get"); err != nil {
		return nil, err
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return nil, s.fail("Get", err)
	}
	if err := s.repo.fullKey(); err != nil {
		return s.First(ctx, repository.Where(repository.Eq("id", id)))
	}
	child, err := s.items().Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if parentID, _ := s.repo.link(child); *parentID != s.parent {
		return nil, &repository.Error{Op: "Get", EntityType: s.repo.EntityType(), TenantID: s.tenant, ID: id, Err: repository.ErrNotFound}
	}
	return child, nil
}

// Query returns the children of this parent that q looks for, under the rules
// of [repository.ScopeOf.Query].
func (s *Scope[C, P]) Query(ctx context.Context, q repository.Query) iter.Seq2[*C, error] {
	if err := s.check("Query"); err != nil {
		return func(yield func(*C, error) bool) { yield(nil, err) }
	}
	return s.items().Query(ctx, s.only(q))
}

// First returns the first child of this parent that q looks for, and
// [repository.ErrNotFound] when there is none.
func (s *Scope[C, P]) First(ctx context.Context, q repository.Query) (*C, error) {
	if err := s.check("First"); err != nil {
		return nil, err
	}
	return s.items().First(ctx, s.only(q))
}

// Count returns how many children of this parent q looks for.
func (s *Scope[C, P]) Count(ctx context.Context, q repository.Query) (int64, error) {
	if err := s.check("Count"); err != nil {
		return 0, err
	}
	return s.items().Count(ctx, s.only(q))
}

// Page reads one page of the children of this parent, under the rules of
// [repository.ScopeOf.Page]. A cursor is good for this parent only.
func (s *Scope[C, P]) Page(ctx context.Context, q repository.Query, opts repository.PageOptions) (*repository.Page[C], error) {
	if err := s.check("Page"); err != nil {
		return nil, err
	}
	return s.items().Page(ctx, s.only(q), opts)
}

// Delete removes one child of this parent and applies the rules to its own
// children. A child of another parent is [repository.ErrNotFound].
func (s *Scope[C, P]) Delete(ctx context.Context, id string, opts *repository.DeleteOptions) error {
	if err := s.check("Delete"); err != nil {
		return err
	}
	// The outline shows also a child whose delete was begun and died.
	child, err := s.repo.node.Outline(ctx, s.tenant, s.key(), id)
	switch {
	case errors.Is(err, repository.ErrNotFound), err == nil && child.ParentID != string(s.parent):
		return &repository.Error{Op: "Delete", EntityType: s.repo.EntityType(), TenantID: s.tenant, ID: id, Err: repository.ErrNotFound}
	case err != nil:
		return err
	}
	return s.repo.children.In(s.tenant, s.repo.forest.given(s.repo.node, child)...).Delete(ctx, id, opts)
}

// items is where the children lie, as far as the parent tells.
func (s *Scope[C, P]) items() *repository.Scope[C] {
	return s.repo.children.In(s.tenant, s.key()...)
}

// key are the values that In takes, as far as the parent tells.
func (s *Scope[C, P]) key() []any {
	var key []any
	for _, path := range s.repo.ownLevels() {
		if path != "/"+parentField {
			break
		}
		key = append(key, string(s.parent))
	}
	return key
}

func (s *Scope[C, P]) only(q repository.Query) repository.Query {
	return q.And(repository.Eq(parentField, string(s.parent)))
}

func (s *Scope[C, P]) check(op string) error {
	if s.err != nil {
		return s.fail(op, s.err)
	}
	return nil
}

func (s *Scope[C, P]) fail(op string, err error) error {
	return &repository.Error{Op: op, EntityType: s.repo.EntityType(), TenantID: s.tenant, Err: err}
}

// ownLevels are the paths of the key that In takes values for.
func (r *Repository[C, P]) ownLevels() []string {
	var paths []string
	for i, path := range engine.CollectionOf(r.children).KeyPaths() {
		if i > 0 && path != "/entityType" {
			paths = append(paths, path)
		}
	}
	return paths
}

// fullKey is nil when a parent's id is enough to know its children's logical
// partition.
func (r *Repository[C, P]) fullKey() error {
	for _, path := range r.ownLevels() {
		if path != "/"+parentField {
			return fmt.Errorf("%w: the key holds %q", repository.ErrInvalid, path)
		}
	}
	return nil
}

// keyOf returns the values that In takes for a child, from its own fields.
func (r *Repository[C, P]) keyOf(child *C) ([]any, error) {
	var key []any
	for _, path := range r.ownLevels() {
		field, ok := r.children.Model().Field(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
		if !ok {
			return nil, fmt.Errorf("%w: partition key path %q is no field", repository.ErrInvalid, path)
		}
		value, ok := field.Value(reflect.ValueOf(child).Elem())
		if !ok || value.IsZero() {
			return nil, &tenantitem.InvalidError{What: "child", Reason: fmt.Sprintf("its key field %q is empty", path), Hint: "fill it before Create"}
		}
		key = append(key, value.Interface())
	}
	return key, nil
}

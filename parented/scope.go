package parented

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Scope is the children of one parent. It may be used by many goroutines.
type Scope[C, P any] struct {
	repo   *Repository[C, P]
	tenant string
	parent tenantitem.Ref[P]
	ref    parentRef // the parent as its children name it
	err    error     // what was wrong with Under's argument
}

// Under binds the children of a parent that was read or created before; its id,
// tenant and key are all that is looked at. What is wrong with them is returned by
// the first verb, as [repository.ErrInvalid].
func (r *Repository[C, P]) Under(parent *P) *Scope[C, P] {
	if parent == nil {
		return &Scope[C, P]{repo: r, err: &tenantitem.InvalidError{What: "parent", Reason: "it is nil", Hint: "pass the parent that was read, or use UnderID"}}
	}
	meta := engine.MetaOf(parent)
	var key []any
	if len(r.node.parent.levels) > 0 {
		key = keyOfParent(engine.CollectionOf(r.parents), parent)
	}
	return r.UnderID(meta.TenantID, tenantitem.Ref[P](meta.ID), key...)
}

// keyOfParent are the values that In takes for an entity.
func keyOfParent(parents *engine.Collection, parent any) []any {
	var key []any
	for _, path := range parents.GivenFields() {
		field, _ := parents.Model().Field(path)
		value, _ := parents.ValueOf(parent, field)
		key = append(key, value)
	}
	return key
}

// UnderID binds the children of a parent that is known by its id. Where the key of
// the parents' container lets two parents of a tenant have one id
// (/tenantId,/city), the parent is named by the further values of its key too, as
// In of its repository takes them: UnderID("acme", "1", "Bonn"). Without them
// Create alone works, of a child whose own fields name them; other verbs fail
// with [repository.ErrInvalid]. Where the id is enough, the key has to be left out.
func (r *Repository[C, P]) UnderID(tenant string, parent tenantitem.Ref[P], key ...any) *Scope[C, P] {
	s := &Scope[C, P]{repo: r, tenant: tenant, parent: parent}
	if s.err = r.checkTenant(tenant); s.err == nil {
		s.err = tenantitem.ValidateID(string(parent))
	}
	if s.err == nil {
		s.ref, s.err = r.parentRef(tenant, parent, key)
	}
	return s
}

// parentRef is a parent as its children name it; of its key, what was given.
func (r *Repository[C, P]) parentRef(tenant string, parent tenantitem.Ref[P], key []any) (parentRef, error) {
	ref := parentRef{id: string(parent)}
	levels := r.node.parent.levels
	if len(levels) == 0 && len(key) > 0 {
		return ref, &tenantitem.InvalidError{What: "parent of " + r.EntityType(), Reason: fmt.Sprintf("its id alone names a %s, and %d values of its key were given", r.parents.EntityType(), len(key)), Hint: "leave the key out"}
	}
	if len(levels) == 0 {
		return ref, nil
	}
	values, err := engine.CollectionOf(r.parents).ValuesBesideID(tenant, key)
	for _, level := range levels {
		ref.levels = append(ref.levels, values[level.field.Path])
	}
	return ref, err
}

// checkTenant checks a tenant's id; children of what belongs to none have none.
func (r *Repository[C, P]) checkTenant(tenant string) error {
	if tenant == "" && engine.CollectionOf(r.parents).IsGlobal() {
		return nil
	}
	return tenantitem.ValidateTenantID(tenant)
}

// Create stores a new child of this parent. It fills the child's reference to
// the parent, also the fields that name the further levels of its key where they
// are empty (a zero number or false too), and the rest as [repository.ScopeOf.Create] does. It fails with
// [repository.ErrDanglingRef] when the parent does not exist, is being deleted,
// or is deleted at the same time; no child is left then.
func (s *Scope[C, P]) Create(ctx context.Context, child *C) error {
	if s.err != nil {
		return s.fail("Create", s.err)
	}
	if child == nil {
		return s.fail("Create", &tenantitem.InvalidError{What: "child", Reason: "it is nil", Hint: "pass a pointer to a filled struct"})
	}
	parentID, _ := s.repo.link(child)
	if *parentID != "" && *parentID != s.parent {
		return s.fail("Create", &tenantitem.InvalidError{What: "child", Reason: "its parentId names another parent", Hint: "leave it empty, or use Move for a child that exists"})
	}
	if err := s.bind(child); err != nil {
		return s.fail("Create", err)
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

// bind fills the fields of a new child that name the parent's key. Those that the scope does not
// know the child has to name.
func (s *Scope[C, P]) bind(child *C) error {
	relation := s.repo.node.parent
	have := relation.namedByEntity(child, string(s.parent))
	for i, level := range relation.levels {
		want := s.ref.levels[i]
		switch {
		case want == nil, want == have.levels[i]:
		case !engine.IsEmpty(child, level.field):
			return &tenantitem.InvalidError{What: "child", Reason: fmt.Sprintf("its %s names another parent", level.field.Path), Hint: "leave it empty, or use Move for a child that exists"}
		default:
			if err := engine.SetValue(child, level.field, want); err != nil {
				return err
			}
			have.levels[i] = want
		}
	}
	if !have.whole() {
		return relation.errHalfNamed(have)
	}
	return nil
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
	if !s.repo.parentNamedBy(child).same(s.ref) {
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
	child, err := s.repo.childByID(ctx, s.tenant, s.key(), id, s.repo.node.parent.childrenOf([]parentRef{s.ref}))
	switch {
	case errors.Is(err, repository.ErrNotFound), err == nil && !s.repo.node.parent.namedBy(child).same(s.ref):
		return &repository.Error{Op: "Delete", EntityType: s.repo.EntityType(), TenantID: s.tenant, ID: id, Err: repository.ErrNotFound}
	case errors.Is(err, repository.ErrInvalid):
		return s.fail("Delete", err)
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
func (s *Scope[C, P]) key() []any { return s.repo.node.parent.childKey(s.ref) }

func (s *Scope[C, P]) only(q repository.Query) repository.Query {
	q = q.And(repository.Eq(parentField, string(s.parent)))
	for i, level := range s.repo.node.parent.levels {
		q = q.And(repository.Eq(level.field.Path, s.ref.levels[i]))
	}
	return q
}

// check refuses verbs where the parent is not named by its whole key.
func (s *Scope[C, P]) check(op string) error {
	if s.err != nil {
		return s.fail(op, s.err)
	}
	if !s.ref.whole() {
		return s.fail(op, s.repo.node.parent.errHalfNamed(s.ref))
	}
	return nil
}

func (s *Scope[C, P]) fail(op string, err error) error {
	return &repository.Error{Op: op, EntityType: s.repo.EntityType(), TenantID: s.tenant, Err: err}
}

// fullKey is nil when the parent is enough to know its children's logical
// partition.
func (r *Repository[C, P]) fullKey() error {
	for _, path := range r.node.GivenFields() {
		if path != parentField && !slices.ContainsFunc(r.node.parent.levels, func(l parentLevel) bool { return l.field.Path == path }) {
			return fmt.Errorf("%w: the key holds %q", repository.ErrInvalid, path)
		}
	}
	return nil
}

// keyOf returns the values that In takes for a child, from its own fields.
func (r *Repository[C, P]) keyOf(child *C) ([]any, error) {
	var key []any
	for _, path := range r.node.GivenFields() {
		field, ok := r.children.Model().Field(path)
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

// childByID reads the outline of one child, deleted or not. Where the key that is known is not the
// whole one it is looked for among those that meet the conditions, and two of one id are refused.
func (r *Repository[C, P]) childByID(ctx context.Context, tenant string, key []any, id string, also ...engine.Predicate) (engine.Document, error) {
	if len(key) == len(r.node.GivenFields()) {
		return r.node.Outline(ctx, tenant, key, id)
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return engine.Document{}, err
	}
	q := engine.Where(engine.Eq("id", id)).And(also...).Limit(2)
	children, err := collect(r.node.Documents(ctx, tenant, key, q, engine.Outline()))
	switch {
	case err != nil:
		return engine.Document{}, err
	case len(children) == 0:
		return engine.Document{}, repository.ErrNotFound
	case len(children) > 1:
		return engine.Document{}, &tenantitem.InvalidError{What: "id of " + r.EntityType(), Reason: "two documents of the tenant have it, in different partitions", Hint: "use In with the whole key, or give each document an id of its own"}
	}
	return children[0], nil
}

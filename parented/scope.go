package parented

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Scope is the children of one parent. Its methods are those of [ScopeOf].
type Scope[C, P any] = ScopeOf[*C, *P]

// ScopeOf is [Scope] over the pointers of a child and of its parent. It may be used by many
// goroutines.
type ScopeOf[C, P any] struct {
	items *repository.RepositoryOf[C]
	scope
}

// scope is the children of one parent, without their Go type.
type scope struct {
	children *children
	tenant   string
	parent   parentRef // as its children name it
	err      error     // what was wrong with Under's argument
}

// Under binds the children of a parent that was read or created before; its id,
// tenant and key are all that is looked at. What is wrong with them is returned by
// the first verb, as [repository.ErrInvalid].
//
//go:noinline
func (r *RepositoryOf[C, P]) Under(parent P) *ScopeOf[C, P] {
	return &ScopeOf[C, P]{r.items, r.children.under(parent)}
}

func (r *children) under(parent any) scope {
	if reflect.ValueOf(parent).IsNil() {
		return scope{children: r, err: &tenantitem.InvalidError{What: "parent", Reason: "it is nil", Hint: "pass the parent that was read, or use UnderID"}}
	}
	meta := engine.MetaOf(parent)
	var key []any
	if len(r.node.parent.levels) > 0 {
		key = keyOfParent(r.parents, parent)
	}
	return r.underID(meta.TenantID, meta.ID, key)
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
//
//go:noinline
func (r *RepositoryOf[C, P]) UnderID(tenant string, parent tenantitem.RefTo[P], key ...any) *ScopeOf[C, P] {
	return &ScopeOf[C, P]{r.items, r.children.underID(tenant, string(parent), key)}
}

func (r *children) underID(tenant, parent string, key []any) scope {
	s := scope{children: r, tenant: tenant}
	if s.err = r.checkTenant(tenant); s.err == nil {
		s.err = tenantitem.ValidateID(parent)
	}
	if s.err == nil {
		s.parent, s.err = r.parentRef(tenant, parent, key)
	}
	return s
}

// Create stores a new child of this parent. It fills the child's reference to
// the parent, also the fields that name the further levels of its key where they
// are empty (a zero number or false too), and the rest as [repository.ScopeOf.Create] does. It fails with
// [repository.ErrDanglingRef] when the parent does not exist, is being deleted,
// or is deleted at the same time; no child is left then.
//
//go:noinline
func (s *ScopeOf[C, P]) Create(ctx context.Context, child C) error {
	key, err := s.prepare(child)
	if err != nil {
		return s.fail("Create", err)
	}
	return s.items.In(s.tenant, key...).Create(ctx, child)
}

// prepare fills a new child's reference to the parent, and returns where it lies, as In takes it.
func (s *scope) prepare(child any) ([]any, error) {
	if s.err != nil {
		return nil, s.err
	}
	if reflect.ValueOf(child).IsNil() {
		return nil, &tenantitem.InvalidError{What: "child", Reason: "it is nil", Hint: "pass a pointer to a filled struct"}
	}
	parentID, _ := parentFields(child)
	if *parentID != "" && *parentID != s.parent.id {
		return nil, &tenantitem.InvalidError{What: "child", Reason: "its parentId names another parent", Hint: "leave it empty, or use Move for a child that exists"}
	}
	if err := s.bind(child); err != nil {
		return nil, err
	}
	*parentID = s.parent.id
	if meta := engine.MetaOf(child); meta.ID == "" {
		id, err := tenantitem.NewID() // the key may hold it
		if err != nil {
			return nil, err
		}
		meta.ID = id
	}
	return s.children.keyOf(child)
}

// bind fills the fields of a new child that name the parent's key. Those that the scope does not
// know the child has to name.
func (s *scope) bind(child any) error {
	relation := s.children.node.parent
	have := relation.namedByEntity(child, s.parent.id)
	for i, level := range relation.levels {
		want := s.parent.levels[i]
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
//
//go:noinline
func (s *ScopeOf[C, P]) Get(ctx context.Context, id string) (C, error) {
	var none C
	if err := s.checkID("Get", id); err != nil {
		return none, err
	}
	if err := s.children.fullKey(); err != nil {
		return s.First(ctx, repository.Where(repository.Eq("id", id)))
	}
	child, err := s.in().Get(ctx, id)
	if err == nil {
		err = s.checkParent("Get", id, child)
	}
	if err != nil {
		return none, err
	}
	return child, nil
}

// Query returns the children of this parent that q looks for, under the rules
// of [repository.ScopeOf.Query].
//
//go:noinline
func (s *ScopeOf[C, P]) Query(ctx context.Context, q repository.Query) iter.Seq2[C, error] {
	if err := s.check("Query"); err != nil {
		return func(yield func(C, error) bool) { yield(*new(C), err) }
	}
	return s.in().Query(ctx, s.only(q))
}

// First returns the first child of this parent that q looks for, and
// [repository.ErrNotFound] when there is none.
//
//go:noinline
func (s *ScopeOf[C, P]) First(ctx context.Context, q repository.Query) (C, error) {
	if err := s.check("First"); err != nil {
		return *new(C), err
	}
	return s.in().First(ctx, s.only(q))
}

// Count returns how many children of this parent q looks for.
//
//go:noinline
func (s *ScopeOf[C, P]) Count(ctx context.Context, q repository.Query) (int64, error) {
	if err := s.check("Count"); err != nil {
		return 0, err
	}
	return s.in().Count(ctx, s.only(q))
}

// Page reads one page of the children of this parent, under the rules of
// [repository.ScopeOf.Page]. A cursor is good for this parent only.
//
//go:noinline
func (s *ScopeOf[C, P]) Page(ctx context.Context, q repository.Query, opts repository.PageOptions) (*engine.Page[C], error) {
	if err := s.check("Page"); err != nil {
		return nil, err
	}
	return s.in().Page(ctx, s.only(q), opts)
}

// Delete removes one child of this parent and applies the rules to its own
// children. A child of another parent is [repository.ErrNotFound].
//
//go:noinline
func (s *ScopeOf[C, P]) Delete(ctx context.Context, id string, opts *repository.DeleteOptions) error {
	key, err := s.keyOfChild(ctx, "Delete", id)
	if err != nil {
		return err
	}
	return s.items.In(s.tenant, key...).Delete(ctx, id, opts)
}

// in is where the children lie, as far as the parent tells.
func (s *ScopeOf[C, P]) in() *repository.ScopeOf[C] { return s.items.In(s.tenant, s.key()...) }

// key are the values that In takes, as far as the parent tells.
func (s *scope) key() []any { return s.children.node.parent.childKey(s.parent) }

// keyOfChild looks for a child of this parent and returns the values that In takes for it. It
// finds also a child whose delete was begun and died.
func (s *scope) keyOfChild(ctx context.Context, op, id string) ([]any, error) {
	if err := s.check(op); err != nil {
		return nil, err
	}
	relation := s.children.node.parent
	child, err := s.children.childByID(ctx, s.tenant, s.key(), id, relation.childrenOf([]parentRef{s.parent}))
	switch {
	case errors.Is(err, repository.ErrNotFound), err == nil && !relation.namedBy(child).same(s.parent):
		return nil, s.notFound(op, id)
	case errors.Is(err, repository.ErrInvalid):
		return nil, s.fail(op, err)
	case err != nil:
		return nil, err
	}
	return s.children.forest.given(s.children.node, child), nil
}

// unhideStray brings a child of this parent back that is hidden though its parent is there.
func (s *scope) unhideStray(ctx context.Context, id string) error {
	f, n := s.children.forest, s.children.node
	child, err := n.Outline(ctx, s.tenant, s.key(), id)
	if errors.Is(err, repository.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	parent, err := f.parentOf(ctx, n.parent, s.tenant, child)
	if err != nil || parent.ID == "" || !isStray(child, parent) {
		return err
	}
	return f.unhideStray(ctx, n, s.tenant, child)
}

func (s *scope) only(q repository.Query) repository.Query {
	q = q.And(repository.Eq(parentField, s.parent.id))
	for i, level := range s.children.node.parent.levels {
		q = q.And(repository.Eq(level.field.Path, s.parent.levels[i]))
	}
	return q
}

// check refuses verbs where the parent is not named by its whole key.
func (s *scope) check(op string) error {
	if s.err != nil {
		return s.fail(op, s.err)
	}
	if !s.parent.whole() {
		return s.fail(op, s.children.node.parent.errHalfNamed(s.parent))
	}
	return nil
}

// checkID is check, of the id of a child too.
func (s *scope) checkID(op, id string) error {
	if err := s.check(op); err != nil {
		return err
	}
	if err := tenantitem.ValidateID(id); err != nil {
		return s.fail(op, err)
	}
	return nil
}

// checkParent refuses a child of another parent.
func (s *scope) checkParent(op, id string, child any) error {
	if !s.children.parentNamedBy(child).same(s.parent) {
		return s.notFound(op, id)
	}
	return nil
}

func (s *scope) notFound(op, id string) error {
	return &repository.Error{Op: op, EntityType: s.children.node.EntityType(), TenantID: s.tenant, ID: id, Err: repository.ErrNotFound}
}

func (s *scope) fail(op string, err error) error {
	return &repository.Error{Op: op, EntityType: s.children.node.EntityType(), TenantID: s.tenant, Err: err}
}

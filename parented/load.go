package parented

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Part is the children of one type that [Load] reads with their parent. Its members are
// those of [PartOf].
type Part[C, P any] = PartOf[*C, *P]

// PartOf is [Part] over the pointers of a child and of its parent.
type PartOf[C, P any] struct {
	// Items are the children that were read, at most Size.
	Items []C
	// More says that there are more; read them with Under(parent).Page.
	More bool

	part
}

// part is one without its Go type.
type part struct {
	children *children
	q        repository.Query
	size     int
	together bool
	lookup   *engine.Lookup
}

// With is any [*Part] of a parent, for Load.
type With[P any] interface {
	begin(parents *repository.Scope[P], id string) (*engine.Lookup, error)
	end()
}

// maxPart bounds what one aggregate brings into memory.
const maxPart = 1000

// Part prepares to read up to size children, 1 to 1,000, with their parent. A
// part is used once.
//
//go:noinline
func (r *RepositoryOf[C, P]) Part(q repository.Query, size int) *PartOf[C, P] {
	return &PartOf[C, P]{part: part{children: r.children, q: q, size: size}}
}

// SamePartition says that the children lie in their parent's own logical partition,
// such as orders and their customer under /tenantId,/customerId. Children that
// lie elsewhere are not found then.
//
//go:noinline
func (p *PartOf[C, P]) SamePartition() *PartOf[C, P] {
	p.together = true
	return p
}

//go:noinline
func (p *PartOf[C, P]) begin(parents *repository.ScopeOf[P], id string) (*engine.Lookup, error) {
	return p.part.begin(parents.Tenant(), engine.KeyOf(parents), id)
}

func (p *part) begin(tenant string, keyOfParent []any, id string) (*engine.Lookup, error) {
	if p.size < 1 || p.size > maxPart {
		return nil, &tenantitem.InvalidError{What: "part of " + p.children.node.EntityType(), Reason: fmt.Sprintf("its size is %d", p.size), Hint: "use 1 to 1000, and Under(parent).Page for more"}
	}
	var named []any
	if len(p.children.node.parent.levels) > 0 {
		named = keyOfParent
	}
	under := p.children.underID(tenant, id, named)
	if err := under.check("Load"); err != nil {
		return nil, err
	}
	key := under.key()
	if p.together {
		key = keyOfParent
	}
	p.lookup = p.children.node.LookFor(tenant, key, engine.QueryOf(under.only(p.q)), p.size)
	return p.lookup, nil
}

//go:noinline
func (p *PartOf[C, P]) end() {
	p.Items, p.More = engine.Found[C](p.lookup), p.lookup.More
}

// Load reads a document together with chosen parts of its children: with one
// query where all parts are in the [PartOf.SamePartition], of different types, and none is sorted or has a
// condition in SQL, else with one query for each. It fails with
// [repository.ErrNotFound] when there is no such parent.
func Load[P any](ctx context.Context, parents *repository.Scope[P], id string, parts ...With[P]) (*P, error) {
	if err := tenantitem.ValidateID(id); err != nil {
		return nil, err
	}
	root := engine.LookForID(parents, id)
	readings := []*engine.Lookup{root}
	for _, p := range parts {
		reading, err := p.begin(parents, id)
		if err != nil {
			return nil, err
		}
		readings = append(readings, reading)
	}
	if err := engine.ReadTogether(ctx, readings...); err != nil {
		return nil, err
	}
	if len(root.Items) == 0 {
		return nil, fmt.Errorf("load %q: %w", id, repository.ErrNotFound)
	}
	for _, p := range parts {
		p.end()
	}
	return engine.Found[*P](root)[0], nil
}

package parented

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Part is the children of one type that [Load] reads with their parent.
type Part[C, P any] struct {
	// Items are the children that were read, at most Size.
	Items []*C
	// More says that there are more; read them with Under(parent).Page.
	More bool

	repo     *Repository[C, P]
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
func (r *Repository[C, P]) Part(q repository.Query, size int) *Part[C, P] {
	return &Part[C, P]{repo: r, q: q, size: size}
}

// SamePartition says that the children lie in their parent's own logical partition,
// such as orders and their customer under /tenantId,/customerId. Children that
// lie elsewhere are not found then.
func (p *Part[C, P]) SamePartition() *Part[C, P] {
	p.together = true
	return p
}

func (p *Part[C, P]) begin(parents *repository.Scope[P], id string) (*engine.Lookup, error) {
	if p.size < 1 || p.size > maxPart {
		return nil, &tenantitem.InvalidError{What: "part of " + p.repo.EntityType(), Reason: fmt.Sprintf("its size is %d", p.size), Hint: "use 1 to 1000, and Under(parent).Page for more"}
	}
	var key []any
	if len(p.repo.node.parent.levels) > 0 {
		key = engine.KeyOf(parents)
	}
	under := p.repo.UnderID(parents.Tenant(), tenantitem.Ref[P](id), key...)
	if err := under.check("Load"); err != nil {
		return nil, err
	}
	scope := under.items()
	if p.together {
		scope = p.repo.children.In(parents.Tenant(), engine.KeyOf(parents)...)
	}
	p.lookup = engine.LookFor(scope, engine.QueryOf(under.only(p.q)), p.size)
	return p.lookup, nil
}

func (p *Part[C, P]) end() {
	p.Items, p.More = engine.Found[C](p.lookup), p.lookup.More
}

// Load reads a document together with chosen parts of its children: with one
// query where all parts are in the [Part.SamePartition], of different types, and none is sorted or has a
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
	return engine.Found[P](root)[0], nil
}

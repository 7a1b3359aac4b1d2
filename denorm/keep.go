package denorm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Copies are the declared copies of one application: it makes [New], hands
// their [Copies.Extension] to registry.NewPlan and, once the database is
// opened and prepared, lets their [Copies.Keeper] work. With fx, [Module] does
// all of it.
type Copies struct {
	cfg          Config
	declarations []Declaration

	schema *schema
	db     *registry.Database
}

// New returns copies that are declared by tags and by declarations. It checks
// nothing yet.
func New(cfg Config, declarations ...Declaration) *Copies {
	return &Copies{cfg: cfg.withDefaults(), declarations: slices.Clone(declarations)}
}

// Extension is what registry.NewPlan needs. It serves one plan and one
// database.
func (c *Copies) Extension() registry.Extension {
	return registry.Extension{Name: "denorm.Module", ServesCopies: true, Plan: c.plan, Open: c.open}
}

// plan checks everything against the catalogue.
func (c *Copies) plan(p *registry.Plan) error {
	if err := tenantitem.ValidateID(c.cfg.Name); err != nil {
		return fmt.Errorf("denorm.Config.Name: %w", err)
	}
	species := p.Species()
	s, err := newSchema(species, c.declarations)
	if err != nil {
		return err
	}
	if err := c.checkExpiry(p, s); err != nil {
		return err
	}
	for _, m := range s.members {
		if reason, ok := m.needsTombstones(); ok {
			m.species.RequireTombstones(c.cfg.Tombstone, reason)
		}
	}
	return addLeaseContainer(p, c.cfg, "denorm.Module")
}

// checkExpiry refuses to keep account of documents that end unseen by the
// default time to live of their container.
func (c *Copies) checkExpiry(p *registry.Plan, s *schema) error {
	for _, m := range s.members {
		reason, ok := m.needsTombstones()
		if !ok {
			continue
		}
		for _, container := range p.Containers() {
			if container.ID == m.species.Container && container.DefaultTTL > 0 {
				return refuse(m.species, fmt.Sprintf("%s, and documents of container %q expire, which nobody gets to know", reason, container.ID), "use registry.TTLOn there")
			}
		}
	}
	return nil
}

// open gives the repositories their hooks.
func (c *Copies) open(db *registry.Database) error {
	if c.db != nil {
		return &tenantitem.InvalidError{What: "denorm.Copies", Reason: "they serve another database already", Hint: "make them with denorm.New for each"}
	}
	s, err := newSchema(db.Plan().Species(), c.declarations)
	if err != nil {
		return err
	}
	for _, m := range s.members {
		m.docs = m.species.Repository()
	}
	s.transactionHooks()
	for _, m := range s.members {
		h := repository.Hooks{Guarded: m.guarded()}
		if len(m.groups) > 0 || len(m.tracked) > 0 || len(m.kept) > 0 || len(m.lists) > 0 {
			h.Fill = []func(context.Context, *repository.Write) error{m.fill}
		}
		h.Moves = slices.ContainsFunc(m.tracked, func(f *tenantitem.Field) bool { return f.Path == "parentId" })
		if m.refuses() {
			h.BeforeDelete = []func(context.Context, repository.Deletion) error{m.beforeDelete}
		}
		if len(m.near) > 0 {
			h.Transaction = s
		}
		m.species.Attach(h)
	}
	c.schema, c.db = s, db
	return nil
}

// refuses reports whether a delete must ask first.
func (m *member) refuses() bool {
	return slices.ContainsFunc(m.outward, func(r rule) bool {
		copies, ok := r.(*copies)
		return ok && slices.ContainsFunc(copies.groups, func(g *group) bool { return g.gone == Restrict })
	})
}

// errFound ends a search at its first document.
var errFound = errors.New("found")

// beforeDelete looks for documents that refer to the one that is to go.
func (m *member) beforeDelete(ctx context.Context, d repository.Deletion) error {
	for _, r := range m.outward {
		copies, ok := r.(*copies)
		if !ok {
			continue
		}
		for _, g := range copies.groups {
			if g.gone != Restrict {
				continue
			}
			err := copies.referring(ctx, d.TenantID, g, d.ID, func([]repository.Document) error { return errFound })
			if errors.Is(err, errFound) {
				return &ReferencedError{EntityType: m.name(), ID: d.ID, By: copies.target.name(), Field: g.ref.Path}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

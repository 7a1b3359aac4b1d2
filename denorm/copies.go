package denorm

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/registry"
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
	return extension(catalogue.Extension{
		Name: "denorm.Module", ServesCopies: true, Containers: leaseContainer(c.cfg, "denorm.Module"), Plan: c.plan, Open: c.open, EraseHeld: eraseHeld(c.cfg),
	})
}

func extension(x catalogue.Extension) registry.Extension {
	var public registry.Extension
	catalogue.Fill(&public, x)
	return public
}

// plan checks everything against the catalogue.
func (c *Copies) plan(p catalogue.Source) error {
	if err := c.cfg.validate(catalogue.Entities(p)); err != nil {
		return err
	}
	s, err := newSchema(catalogue.Entities(p), c.declarations)
	if err != nil {
		return err
	}
	if err := c.checkExpiry(p, s); err != nil {
		return err
	}
	for _, typ := range s.entityTypes {
		if typ.tombstoneReason != "" {
			typ.entity.RequireTombstones(c.cfg.Tombstone, typ.tombstoneReason)
		}
	}
	return nil
}

// checkExpiry refuses to keep account of documents that end unseen by the
// default time to live of their container.
func (c *Copies) checkExpiry(source catalogue.Source, s *schema) error {
	p, ok := source.(*registry.Plan)
	if !ok {
		return nil
	}
	for _, typ := range s.entityTypes {
		reason := typ.mayNotExpire()
		if reason == "" {
			continue
		}
		for _, container := range p.Containers() {
			if container.ID == typ.entity.Container && container.DefaultTTL > 0 {
				return refuse(typ.entity, fmt.Sprintf("%s, and documents of container %q expire, which nobody gets to know", reason, container.ID), "use registry.TTLOn there")
			}
		}
	}
	return nil
}

// open gives the repositories their hooks.
func (c *Copies) open(source catalogue.Source) error {
	db, ok := source.(*registry.Database)
	if !ok {
		return &tenantitem.InvalidError{What: "denorm.Copies", Reason: "they were opened without a database", Hint: "pass Extension() to registry.NewPlan and open that"}
	}
	if c.db != nil {
		return &tenantitem.InvalidError{What: "denorm.Copies", Reason: "they serve another database already", Hint: "make them with denorm.New for each"}
	}
	s, err := newSchema(catalogue.Entities(db), c.declarations)
	if err != nil {
		return err
	}
	for _, typ := range s.entityTypes {
		typ.docs = typ.entity.Collection
		if err := typ.refuseWholeParents(); err != nil {
			return err
		}
	}
	s.connect()
	for _, typ := range s.entityTypes {
		if err := typ.attach(s); err != nil {
			return err
		}
	}
	c.schema, c.db = s, db
	return nil
}

// refuseWholeParents refuses declarations that go by the parent of documents which name it by
// more than its id: the id alone does not find it.
func (typ *entityType) refuseWholeParents() error {
	const parentID = "parentId"
	followed := slices.ContainsFunc(typ.tracked, func(f *tenantitem.Field) bool { return f.Path == parentID }) ||
		slices.ContainsFunc(typ.groups, func(g *group) bool { return g.ref.Path == parentID })
	if !followed || len(typ.docs.ParentFields()) == 0 {
		return nil
	}
	return refuse(typ.entity, "a copy, a count or a list follows its parentId, and the id alone does not name its parent",
		"say registry.UniqueIDs on the parent where its ids are unique in their tenant, as those are that Grove makes, or leave the declaration out")
}

// attach makes an entity type take part in the writes and deletes of its documents.
func (typ *entityType) attach(s *schema) error {
	c := typ.entity.Collection
	c.GuardPaths(typ.guarded...)
	c.RefuseExpiry(typ.mayNotExpire())
	if len(typ.beforeDelete) > 0 {
		if err := c.SetDeleteGuard(engine.OwnerCopies, typ); err != nil {
			return err
		}
	}
	if len(typ.fillers) > 0 {
		if err := c.SetFiller(engine.OwnerCopies, typ); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(typ.tracked, func(f *tenantitem.Field) bool { return f.Path == "parentId" }) {
		c.KeepFormerParents()
	}
	if len(typ.transactionFields) > 0 {
		return c.SetTransactionHook(s)
	}
	return nil
}

// AllowDelete asks every declaration that may refuse a delete.
func (typ *entityType) AllowDelete(ctx context.Context, d engine.Deletion) error {
	for _, refuses := range typ.beforeDelete {
		if err := refuses(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

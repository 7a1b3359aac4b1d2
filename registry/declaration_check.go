package registry

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/tenantitem"
)

// NewPlan checks the registrations against each other. It sends nothing. With fx it runs inside fx.New.
//
// It fails with an error that unwraps to [tenantitem.ErrInvalid] when two of
// them contradict each other, and names both. Order does not matter: the
// catalogue is sorted by the name of the entity type.
func NewPlan(cfg Config, declarations []Declaration, extensions ...Extension) (*Plan, error) {
	p := &Plan{cfg: cfg.WithDefaults(), cursorKey: func() []byte { return cfg.CursorKey }, origin: map[string]string{}}
	p.cfg.CursorKey = nil
	for _, x := range extensions {
		p.extensions = append(p.extensions, catalogue.ExtensionOf(x))
	}
	slices.SortFunc(p.extensions, func(a, b catalogue.Extension) int { return cmp.Compare(a.Name, b.Name) })
	// What is checked before any request, in this order. Containers that exist are
	// compared with the plan later, in container_check.go.
	steps := []func() error{
		p.describeContainers,
		func() error { return p.addEntities(declarations) },
		p.checkNames,
		p.checkParents,
		p.place,           // also checkLayout in layout.go, addContainer in plan.go
		p.checkReferences, // checkrefs.go
		p.extend,          // what denorm declares: Copies.plan in denorm/copies.go
		p.keepDescendants, // softdelete.go
		p.checkTTL,        // ttl.go
		p.checkLifetimes,  // ttl.go
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("registry: %w", err)
		}
	}
	return p, nil
}

// describeContainers checks the containers of the configuration, each for itself.
func (p *Plan) describeContainers() error {
	if err := validateResourceID("Config.Database", p.cfg.Database); err != nil {
		return err
	}
	if err := p.cfg.Throughput.validate("Config.Throughput"); err != nil {
		return err
	}
	for i, c := range p.cfg.Containers {
		c = c.withDefaults()
		origin := fmt.Sprintf("Config.Containers[%d]", i)
		if other, taken := p.origin[c.ID]; taken {
			return conflict(fmt.Sprintf("%s and %s both describe container %q", other, origin, c.ID), "leave one out, or give it another id")
		}
		if err := c.validate(origin); err != nil {
			return err
		}
		p.containers = append(p.containers, c)
		p.origin[c.ID] = origin
	}
	return nil
}

// addEntities makes a row of the catalogue from each declaration.
func (p *Plan) addEntities(declarations []Declaration) error {
	for i := range declarations {
		s, err := declarations[i].entity()
		if err != nil {
			return err
		}
		if s.Container == "" {
			s.Container = p.cfg.DefaultContainer
		}
		p.entities = append(p.entities, s)
	}
	slices.SortFunc(p.entities, func(a, b *entity) int {
		return cmp.Or(cmp.Compare(a.EntityType, b.EntityType), cmp.Compare(a.String(), b.String()))
	})
	return nil
}

// checkNames refuses two entity types that would read each other's documents.
func (p *Plan) checkNames() error {
	byType, byName := map[reflect.Type]*entity{}, map[string]*entity{}
	for _, s := range p.entities {
		if other, taken := byType[s.Model.Type]; taken {
			return conflict(fmt.Sprintf("%s and %s register the same type", other, s), "leave one out")
		}
		byType[s.Model.Type] = s
		for _, name := range append([]string{s.EntityType}, s.Aliases...) {
			if other, taken := byName[name]; taken {
				return conflict(fmt.Sprintf("%s and %s are both stored as %q", other, s, name), "give one of them another name with registry.Named")
			}
			byName[name] = s
		}
	}
	return nil
}

// checkParents refuses a child of a type that is not registered.
func (p *Plan) checkParents() error {
	for _, s := range p.entities {
		if s.Parent == nil {
			continue
		}
		if _, known := p.entityOf(s.Parent); !known {
			return conflict(fmt.Sprintf("%s is a child of %s, which is not registered", s, s.Parent.Name()), fmt.Sprintf("add registry.Entity[%s]()", s.Parent.Name()))
		}
	}
	return nil
}

// place gives every entity type the key of its container.
func (p *Plan) place() error {
	for _, s := range p.entities {
		i := p.container(s.Container)
		if i < 0 {
			if s.Container != p.cfg.DefaultContainer {
				return conflict(fmt.Sprintf("%s lives in container %q, which is not described", s, s.Container), p.knownContainers())
			}
			if err := validateResourceID("Config.DefaultContainer", s.Container); err != nil {
				return err
			}
			p.containers = append(p.containers, Container{ID: s.Container}.withDefaults())
			p.origin[s.Container] = "Config.DefaultContainer"
			i = len(p.containers) - 1
		}
		s.PartitionKey = p.containers[i].PartitionKey
		if err := p.checkLayout(s); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) knownContainers() string {
	if len(p.containers) == 0 {
		return "add it to Config.Containers"
	}
	ids := make([]string, len(p.containers))
	for i, c := range p.containers {
		ids[i] = fmt.Sprintf("%q", c.ID)
	}
	return "add it to Config.Containers, or use one of " + strings.Join(ids, ", ")
}

// extend lets the extensions have their say, and refuses copies that nothing
// would keep.
func (p *Plan) extend() error {
	served := false
	for i, x := range p.extensions {
		if i > 0 && p.extensions[i-1].Name == x.Name {
			return conflict(fmt.Sprintf("%s is there twice", x.Name), "leave one out")
		}
		served = served || x.ServesCopies
	}
	for _, s := range p.entities {
		if copies := s.Model.Copies(); len(copies) > 0 && !served {
			return conflict(fmt.Sprintf("%s has a denorm tag on %q and nothing serves it", s, copies[0].Path), "add denorm.Module to the application, or take the tag away")
		}
	}
	p.share()
	for _, x := range p.extensions {
		for _, c := range x.Containers {
			if err := p.addContainer(Container{ID: c.ID, PartitionKey: c.PartitionKey}, c.By); err != nil {
				return fmt.Errorf("%s: %w", x.Name, err)
			}
		}
		if x.Plan == nil {
			continue
		}
		if err := x.Plan(p); err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
	}
	return nil
}

func conflict(reason, hint string) error {
	return &tenantitem.InvalidError{What: "registration", Reason: reason, Hint: hint}
}

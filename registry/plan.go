package registry

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Plan is a checked description of a database: its containers and the entity types
// that live in them. It holds no connection; see [Open] and [Provision].
type Plan struct {
	rows       //nolint:unused // read through internal/catalogue
	cfg        Config
	cursorKey  func() []byte // apart from cfg, since a function prints as its address
	containers []Container
	origin     map[string]string // container id -> who described it
	entities   []*entity
	extensions []catalogue.Extension
}

// Database returns the id of the database.
func (p *Plan) Database() string { return p.cfg.Database }

// Logger returns the logger of [Config].
func (p *Plan) Logger() *slog.Logger { return p.cfg.Logger }

// rows is how Grove's other packages reach the catalogue.
type rows = catalogue.Handle //nolint:unused // it is embedded

// Registered is a registered entity type and where it lives.
type Registered struct {
	// EntityType is the stored name, Aliases older ones.
	EntityType string
	Aliases    []string
	// Model is what the Go struct says about its fields.
	Model *tenantitem.Model
	// Parent is the parent's Go type; nil for an aggregate root.
	Parent reflect.Type
	// Container is the id of the container, PartitionKey its key's paths.
	Container    string
	PartitionKey []string
	// Declared names the registration, as in "registry.Entity[Note] (app.go:31)".
	Declared string
}

// Entities returns what is registered, sorted by the name of the entity type.
func (p *Plan) Entities() []Registered {
	out := make([]Registered, len(p.entities))
	for i, s := range p.entities {
		out[i] = Registered{
			EntityType: s.EntityType, Aliases: s.Aliases, Model: s.Model, Parent: s.Parent,
			Container: s.Container, PartitionKey: s.PartitionKey, Declared: s.String(),
		}
	}
	return out
}

// share lets extensions see the catalogue.
func (p *Plan) share() []*catalogue.Entity {
	entities := make([]*catalogue.Entity, len(p.entities))
	for i, s := range p.entities {
		entities[i] = &s.Entity
	}
	catalogue.Set(p, entities)
	return entities
}

// entityOf returns the row of a Go type.
func (p *Plan) entityOf(t reflect.Type) (*entity, bool) {
	i := slices.IndexFunc(p.entities, func(s *entity) bool { return s.Model.Type == t })
	if i < 0 {
		return nil, false
	}
	return p.entities[i], true
}

// Containers returns the containers, in the order of [Config] and then of
// what was added.
func (p *Plan) Containers() []Container { return slices.Clone(p.containers) }

// addContainer adds a container that an extension needs for itself.
func (p *Plan) addContainer(c Container, by string) error {
	if i := p.container(c.ID); i >= 0 {
		if have := p.containers[i].PartitionKey; !slices.Equal(have, c.PartitionKey) {
			return conflict(fmt.Sprintf("container %q is keyed by %s in %s and by %s in %s", c.ID, list(have), p.origin[c.ID], list(c.PartitionKey), by), "give one of them another id")
		}
		return nil
	}
	if err := validateResourceID(by, c.ID); err != nil {
		return err
	}
	p.containers = append(p.containers, c.withDefaults())
	p.origin[c.ID] = by
	return nil
}

// clone copies what Open changes.
func (p *Plan) clone() *Plan {
	q := *p
	q.entities = make([]*entity, len(p.entities))
	for i, s := range p.entities {
		row := *s
		q.entities[i] = &row
	}
	return &q
}

func (p *Plan) container(id string) int {
	return slices.IndexFunc(p.containers, func(c Container) bool { return c.ID == id })
}

// repositoryConfig is what an entity type's repository is made with.
func (p *Plan) repositoryConfig(s *entity) repository.Config {
	return repository.Config{
		EntityType:   s.EntityType,
		Aliases:      s.Aliases,
		PartitionKey: s.PartitionKey,
		Layout:       s.Layout,
		CursorKey:    p.cursorKey(),
		Telemetry:    p.cfg.Telemetry,
		Ceiling:      p.cfg.Ceiling,
	}
}

func list(paths []string) string { return strings.Join(paths, ",") }

package registry

import (
	"context"
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Database is an opened plan: one client for each container, shared by the
// repositories of the entity types that live in it. It is safe for use by many
// goroutines.
type Database struct {
	rows       //nolint:unused // read through internal/catalogue
	plan       *Plan
	client     *azcosmos.Client
	containers map[string]*azcosmos.ContainerClient
	forest     *parented.Forest
}

// Open makes the repositories of a plan. It sends nothing, so that it works
// before the containers exist; call [Database.Prepare] before the first verb.
//
// It fails with an error that unwraps to [tenantitem.ErrInvalid] when an
// entity lacks a field of its container's key, and names both registrations.
func Open(client *azcosmos.Client, plan *Plan) (*Database, error) {
	if client == nil {
		return nil, &tenantitem.InvalidError{What: "client", Reason: "it is nil", Hint: "make one with registry.NewClient"}
	}
	plan = plan.clone() // a plan may be opened more than once, and repositories belong to one client
	db := &Database{plan: plan, client: client, containers: map[string]*azcosmos.ContainerClient{}, forest: parented.NewForest(parented.ForestConfig{})}
	sessions := map[string]*engine.Sessions{}
	for _, c := range plan.containers {
		sessions[c.ID] = &engine.Sessions{}
		container, err := cosmos.OpenContainer(client, plan.cfg.Database, c.ID)
		if err != nil {
			return nil, fmt.Errorf("registry: container %q: %w", c.ID, err)
		}
		db.containers[c.ID] = container
	}
	for _, s := range db.parentsFirst() {
		cfg := plan.repositoryConfig(s)
		cfg.Sessions = sessions[s.Container]
		if err := s.from.open(db, s, db.containers[s.Container], cfg); err != nil {
			return nil, fmt.Errorf("registry: %s in container %q, described in %s: %w", s, s.Container, plan.origin[s.Container], err)
		}
		if hook := s.expiry(plan.containers[plan.container(s.Container)]); hook != nil {
			if err := s.Collection.SetValidator(engine.OwnerLifetime, hook); err != nil {
				return nil, fmt.Errorf("registry: %w", err)
			}
		}
	}
	for _, s := range plan.entities {
		if err := db.guardRefs(s); err != nil {
			return nil, fmt.Errorf("registry: %w", err)
		}
	}
	catalogue.Set(db, plan.share())
	for _, x := range plan.extensions {
		if x.Open == nil {
			continue
		}
		if err := x.Open(db); err != nil {
			return nil, fmt.Errorf("registry: %s: %w", x.Name, err)
		}
	}
	return db, nil
}

// parentsFirst orders the catalogue so that a parent's repository exists when
// its children's are made. Parents that are each other's children keep their
// place: there is no first among them.
func (db *Database) parentsFirst() []*entity {
	ordered := make([]*entity, 0, len(db.plan.entities))
	seen := map[*entity]bool{}
	var visit func(*entity)
	visit = func(s *entity) {
		if seen[s] {
			return
		}
		seen[s] = true
		if s.Parent != nil {
			if parent, ok := db.plan.entityOf(s.Parent); ok {
				visit(parent)
			}
		}
		ordered = append(ordered, s)
	}
	for _, s := range db.plan.entities {
		visit(s)
	}
	return ordered
}

// Plan returns what the database was opened with.
func (db *Database) Plan() *Plan { return db.plan }

// Client returns the client of the account.
func (db *Database) Client() *azcosmos.Client { return db.client }

// Forest returns what carries the delete rules out, for its Resume and Sweep.
func (db *Database) Forest() *parented.Forest { return db.forest }

// Container returns the client of a container of the plan. What is done with
// it goes around the checks of the tenant, the delete rules and the copies.
func (db *Database) Container(id string) (*azcosmos.ContainerClient, bool) {
	c, ok := db.containers[id]
	return c, ok
}

// Prepare makes the database ready for the first verb: with
// [Config].Provision it creates what is missing, and in either case it
// compares what is there with the plan; see [Provision] and [Check].
// Differences that are no error are logged. It may be called again.
func (db *Database) Prepare(ctx context.Context) error {
	compare := Check
	if db.plan.cfg.Provision {
		compare = Provision
	}
	differences, err := compare(ctx, db.client, db.plan)
	for _, d := range differences {
		if !d.Fatal {
			db.plan.cfg.Logger.WarnContext(ctx, "container differs from its registration",
				"database", db.plan.cfg.Database, "container", d.Container, "property", d.Property, "registered", d.Registered, "live", d.Live)
		}
	}
	return err
}

// Health asks the account for the plan's first container: one request, whatever
// the number of containers, and one that a role of this container alone allows.
// It returns nil when the account answers, the credential is good and the
// container exists. It is meant for a readiness probe; put the probe's timeout
// into ctx.
func (db *Database) Health(ctx context.Context) error {
	if len(db.plan.containers) == 0 {
		if err := cosmos.ReadDatabase(ctx, db.client, db.plan.cfg.Database); err != nil {
			return fmt.Errorf("registry: database %q is not healthy: %w", db.plan.cfg.Database, answer(err))
		}
		return nil
	}
	id := db.plan.containers[0].ID
	if _, _, err := cosmos.ReadContainer(ctx, db.containers[id]); err != nil {
		return fmt.Errorf("registry: container %q of database %q is not healthy: %w", id, db.plan.cfg.Database, answer(err))
	}
	return nil
}

// RepositoryOf returns the repository of an aggregate root. It fails when the
// type was not registered.
func RepositoryOf[T any, PT tenantitem.Root[T]](db *Database) (*repository.Repository[T], error) {
	return baseOf[*T](db)
}

// baseOf returns the repository under any entity type, a child's too, where it
// goes around the child's rules.
func baseOf[P any](db *Database) (*repository.RepositoryOf[P], error) {
	base, err := db.baseOf(reflect.TypeFor[P]().Elem())
	repo, _ := base.(*repository.RepositoryOf[P])
	return repo, err
}

func (db *Database) baseOf(t reflect.Type) (any, error) {
	if s, ok := db.plan.entityOf(t); ok && s.Repository != nil {
		return s.Repository, nil
	}
	return nil, &tenantitem.InvalidError{What: "repository", Reason: fmt.Sprintf("%s is not registered", t.Name()), Hint: fmt.Sprintf("add registry.Entity[%s]()", t.Name())}
}

package registry

import (
	"cmp"
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

const (
	declarationGroup = `group:"grove.declarations"`
)

// params is what [Module] takes from the application: its client, which the
// application owns, and what [Entity], [Child] and other modules added.
type params struct {
	fx.In

	Client       *azcosmos.Client
	Declarations []Declaration `group:"grove.declarations"`
	Extensions   []Extension   `group:"grove.extensions"`
}

// Module adds a database to an fx application. It takes a *azcosmos.Client,
// which [NewClient] makes, and provides the [*Database], its [*Tenants] and its
// [*parented.Forest]; the repositories are provided by [Entity] and [Child].
// When the application starts, the database is prepared before anything that
// uses a repository; see [Database.Prepare].
//
// A second database, of the same account or another, is a Module with a
// [Config].Name.
func Module(cfg Config) fx.Option {
	if cfg.Name != "" {
		return namedModule(cfg)
	}
	return fx.Module("grove",
		fx.Provide(func(lc fx.Lifecycle, p params) (*Database, error) { return start(lc, cfg, p) }),
		fx.Provide((*Database).Tenants, (*Database).Forest),
		// Registrations whose repositories no constructor takes yet must be checked all the same,
		// and the hook above must come before those of their users.
		fx.Invoke(func(*Database) {}),
	)
}

// start opens a database and prepares it with the application. What is checked
// about registrations alone is a step of NewPlan (declaration_check.go); what is compared with
// the live containers, by Prepare, is in compare of container_check.go; what another package
// checks is its catalogue.Extension.
func start(lc fx.Lifecycle, cfg Config, p params) (*Database, error) {
	plan, err := NewPlan(cfg, p.Declarations, p.Extensions...)
	if err != nil {
		return nil, err
	}
	db, err := Open(p.Client, plan)
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StartHook(db.Prepare))
	lc.Append(background(db.Upkeep))
	return db, nil
}

// background runs work from the application's start to its stop.
func background(work func(context.Context)) fx.Hook {
	// A hook's own context ends with the hook.
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	return fx.StartStopHook(
		func() {
			go func() {
				defer close(done)
				work(ctx)
			}()
		},
		func(stopping context.Context) error {
			cancel()
			select {
			case <-done:
				return nil
			case <-stopping.Done():
				return fmt.Errorf("registry: the upkeep did not end in time: %w", stopping.Err())
			}
		},
	)
}

// Entity registers an aggregate root and provides its
// *repository.Repository[T]. The compiler refuses a T that does not embed
// tenantitem.TenantItem of its own type.
func Entity[T any, PT tenantitem.Root[T]](opts ...Option) fx.Option {
	return provideEntity(callSite(), repository.New[T, PT], opts)
}

func provideEntity[P any](site string, newRepository func(*azcosmos.ContainerClient, repository.Config) (*repository.RepositoryOf[P], error), opts []Option) fx.Option {
	return register(declareEntity(site, newRepository, opts), baseOf[P])
}

// Child registers a child entity type under its parent and provides its
// *parented.Repository[C, P]. The rule says what becomes of the children when
// the parent is deleted. The compiler refuses a C that does not embed
// parented.ParentedItem of its own type and its parent's.
func Child[C, P any, PC parented.Child[C, P]](rule parented.Rule, opts ...Option) fx.Option {
	return provideChild(callSite(), parented.New[C, P, PC], rule, opts)
}

func provideChild[C, P any](site string, newRepository newChildRepository[C, P], rule parented.Rule, opts []Option) fx.Option {
	return register(declareChild(site, newRepository, rule, opts), childrenOf[C, P])
}

// Buckets registers small children that are kept many to a document, and
// provides their *parented.Buckets[E, P]; see [Capacity].
func Buckets[E, P any](rule parented.Rule, opts ...Option) fx.Option {
	d := declareBuckets[E, P](callSite(), rule, opts)
	return register(d, func(db *Database) (*parented.Buckets[E, P], error) { return BucketsOf[E, P](db) })
}

// register adds a declaration and the constructor of what it gives. Each has a
// module of its own, because the constructors' names would all be the same in
// fx's log.
func register(d Declaration, constructor any) fx.Option {
	name := cmp.Or(d.name, typeName(d.goType))
	if module := d.module(); module != "" {
		return registerNamed(module, name, d, constructor)
	}
	return fx.Module("grove/"+name,
		fx.Supply(fx.Annotate(d, fx.ResultTags(declarationGroup))),
		fx.Provide(constructor),
	)
}

package denorm

import (
	"fmt"
	"reflect"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/registry"
)

// Module keeps the declared copies of an fx application: it serves the denorm
// tags and what [Count], [Recent], [Link] and [OnDelete] declare, and provides
// the [*Keeper]. While the application runs, changes are followed in the
// background, together with the other processes of the application. A [Config]
// that the application provides is used.
var Module = fx.Module("denorm",
	fx.Provide(
		fx.Private,
		func(p params) *Copies { return New(p.Config, p.Declarations...) },
	),
	extend(func(c *Copies) registry.Extension { return c.Extension() }, catalogue.ExtensionGroup),
	fx.Provide(func(lc fx.Lifecycle, c *Copies, _ *registry.Database) (*Keeper, error) {
		k, err := c.Keeper()
		if err != nil {
			return nil, err
		}
		lc.Append(fx.StartStopHook(k.Start, k.Stop))
		return k, nil
	}),
	fx.Invoke(func(*Keeper) {}),
)

// Process runs a change feed processor of the application's own, over the
// container in which T is stored: one registration for
//
//	denorm.Process[Order]("invoices", func(m *Mailer) changefeed.Handler { return m.Send })
//
// newHandler is a constructor: it takes what fx provides and returns a
// [changefeed.Handler], or that and an error. The processor starts after
// everything that the handler needs has started, and stops before any of it
// stops. Its handler is given the changes of all entity types of the container.
//
// The name is that of [changefeed.Config]: every process of the application
// shares the work of one name. Under the name of
// `name:"invoices"` the application finds the [*changefeed.Processor], for its
// lag and its quarantine. Leases are kept in [Config].LeaseContainer, which is
// made with the other containers; configure may change the rest.
func Process[T any](name string, newHandler any, configure ...func(*changefeed.Config)) fx.Option {
	return provideProcessor(reflect.TypeFor[T](), name, newHandler, configure)
}

func provideProcessor(entity reflect.Type, name string, newHandler any, configure []func(*changefeed.Config)) fx.Option {
	tag := fmt.Sprintf(`name:%q`, name)
	return fx.Module("denorm/"+name,
		fx.Provide(fx.Private, newHandler),
		extend(func(p leaseParams) registry.Extension {
			cfg := p.Config.withDefaults()
			return extension(catalogue.Extension{
				Name: fmt.Sprintf("denorm.Process(%q)", name), Containers: leaseContainer(cfg, "denorm.Process"), EraseHeld: eraseHeld(cfg),
			})
		}, catalogue.ExtensionGroup),
		fx.Provide(fx.Annotate(func(lc fx.Lifecycle, p leaseParams, db *registry.Database, handler changefeed.Handler) (*changefeed.Processor, error) {
			cfg, err := processorConfig(db, p.Config.withDefaults(), entity, name)
			if err != nil {
				return nil, err
			}
			for _, change := range configure {
				change(&cfg)
			}
			processor, err := changefeed.New(cfg, handler)
			if err != nil {
				return nil, fmt.Errorf("denorm: processor %q: %w", name, err)
			}
			lc.Append(fx.StartStopHook(processor.Start, processor.Stop))
			return processor, nil
		}, fx.ResultTags(tag))),
		fx.Invoke(fx.Annotate(func(*changefeed.Processor) {}, fx.ParamTags(tag))),
	)
}

type leaseParams struct {
	fx.In

	Config Config `optional:"true"`
}

type params struct {
	fx.In

	Config       Config        `optional:"true"`
	Declarations []Declaration `group:"grove.denorm"`
}

// Count is [CountOf] for an fx application.
func Count[P, C any](field, refField string) fx.Option { return add(CountOf[P, C](field, refField)) }

// Recent is [RecentOf] for an fx application.
func Recent[P, C any](field string, n int, refField ...string) fx.Option {
	return add(RecentOf[P, C](field, n, refField...))
}

// Link is [LinkOf] for an fx application.
func Link[A, B any](fieldA, fieldB string) fx.Option { return add(LinkOf[A, B](fieldA, fieldB)) }

// OnDelete is [OnDeleteOf] for an fx application.
func OnDelete[T, S any](refField string, gone DeleteAction) fx.Option {
	return add(OnDeleteOf[T, S](refField, gone))
}

func add(d Declaration) fx.Option {
	return fx.Supply(fx.Annotate(d, fx.ResultTags(`group:"grove.denorm"`)))
}

// extend adds what a constructor returns to a database's plan.
func extend(constructor any, group string) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(group)))
}

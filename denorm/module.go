package denorm

import (
	"go.uber.org/fx"

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
	registry.Extend(func(c *Copies) registry.Extension { return c.Extension() }),
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
func OnDelete[T, S any](refField string, gone Gone) fx.Option {
	return add(OnDeleteOf[T, S](refField, gone))
}

func add(d Declaration) fx.Option {
	return fx.Supply(fx.Annotate(d, fx.ResultTags(`group:"grove.denorm"`)))
}

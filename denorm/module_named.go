package denorm

import (
	"fmt"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/registry"
)

// NamedModule is [Module] for the database whose registry.Config has that
// Name. What [CountOf], [RecentOf], [LinkOf] and [OnDeleteOf] declare for
// entity types of that database is handed over here, and the [*Keeper] has the name in fx. The
// application's [Config] is used if it provides one.
func NamedModule(name string, declarations ...Declaration) fx.Option {
	tag := fmt.Sprintf(`name:%q`, name)
	return fx.Module("denorm/"+name,
		fx.Provide(
			fx.Private,
			func(p leaseParams) *Copies { return New(p.Config, declarations...) },
		),
		extend(func(c *Copies) registry.Extension { return c.Extension() }, catalogue.InModule(catalogue.ExtensionGroup, name)),
		fx.Provide(fx.Annotate(func(lc fx.Lifecycle, c *Copies, _ *registry.Database) (*Keeper, error) {
			k, err := c.Keeper()
			if err != nil {
				return nil, fmt.Errorf("denorm: module %q: %w", name, err)
			}
			lc.Append(fx.StartStopHook(k.Start, k.Stop))
			return k, nil
		}, fx.ParamTags("", "", tag), fx.ResultTags(tag))),
		fx.Invoke(fx.Annotate(func(*Keeper) {}, fx.ParamTags(tag))),
	)
}

package registry

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Of registers an entity type with the module of that name ([Config].Name) instead
// of the one without a name, for applications with several databases or
// accounts. What the registration provides has that name in fx too: take it
// with the tag `name:"billing"`. Without fx it does nothing; there the
// declarations are handed to each [NewPlan].
func Of(module string) Option { return moduleOption(module) }

type moduleOption string

func (moduleOption) apply(*entity) error { return nil }

// module is the name of the module that the declaration is for.
func (d *Declaration) module() string {
	name := ""
	for _, o := range d.opts {
		if m, ok := o.(moduleOption); ok {
			name = string(m)
		}
	}
	return name
}

func nameTag(name string) string { return fmt.Sprintf(`name:%q`, name) }

// namedModule is Module with a name: everything that it takes and provides has
// that name, but for the client, which may be the one without.
func namedModule(cfg Config) fx.Option {
	name := cfg.Name
	if err := checkModuleName(name); err != nil {
		return fx.Error(err)
	}
	tag := nameTag(name)
	optional := ` optional:"true"`
	open := func(lc fx.Lifecycle, own, shared *azcosmos.Client, declarations []Declaration, extensions []Extension) (*Database, error) {
		client := own
		if client == nil {
			client = shared
		}
		db, err := start(lc, cfg, params{Client: client, Declarations: declarations, Extensions: extensions})
		if err != nil {
			return nil, fmt.Errorf("module %q: %w", name, err)
		}
		return db, nil
	}
	provided := fx.ResultTags(tag)
	needed := fx.ParamTags(tag)
	return fx.Module("grove/"+name,
		fx.Provide(
			fx.Annotate(open, fx.ParamTags("", tag+optional, optional[1:], catalogue.InModule(declarationGroup, name), catalogue.InModule(catalogue.ExtensionGroup, name)), provided),
			fx.Annotate((*Database).Tenants, needed, provided),
			fx.Annotate((*Database).Forest, needed, provided),
		),
		fx.Invoke(fx.Annotate(func(*Database) {}, needed)),
	)
}

// checkModuleName keeps a name to what can stand in a struct's tag.
func checkModuleName(name string) error {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	if name == "" || strings.ContainsFunc(name, bad) {
		return &tenantitem.InvalidError{What: "module", Reason: fmt.Sprintf("its name is %q", name), Hint: `use letters, digits, "-", "_" and "."`}
	}
	return nil
}

func registerNamed(module, name string, d Declaration, constructor any) fx.Option {
	if err := checkModuleName(module); err != nil {
		return fx.Error(err)
	}
	tag := nameTag(module)
	return fx.Module("grove/"+module+"/"+name,
		fx.Supply(fx.Annotate(d, fx.ResultTags(catalogue.InModule(declarationGroup, module)))),
		fx.Provide(fx.Annotate(constructor, fx.ParamTags(tag), fx.ResultTags(tag))),
		// A registration with a module that is not there would be passed over.
		fx.Invoke(fx.Annotate(func(*Database) {}, fx.ParamTags(tag))),
	)
}

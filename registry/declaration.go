package registry

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Declaration is a registered entity type before it is checked against the others.
// [EntityOf] makes one.
type Declaration struct {
	call   string // "registry.Entity[Note]"
	site   string // "app.go:31"
	name   string // the stored name and the one in fx's log; the Go type's when empty
	goType reflect.Type
	parent reflect.Type
	opts   []Option
	model  func() (*tenantitem.Model, error)
	open   func(*Database, *entity, *azcosmos.ContainerClient, repository.Config) error
}

// String names the registration and where it was made.
func (d *Declaration) String() string {
	if d.site == "" {
		return d.call
	}
	return fmt.Sprintf("%s (%s)", d.call, d.site)
}

// EntityOf declares an aggregate root, for [NewPlan]. With fx it is [Entity].
func EntityOf[T any, PT tenantitem.Root[T]](opts ...Option) Declaration {
	return declareEntity[T, PT](callSite(), opts)
}

func declareEntity[T any, PT tenantitem.Root[T]](site string, opts []Option) Declaration {
	return Declaration{
		call:   fmt.Sprintf("registry.Entity[%s]", typeName(reflect.TypeFor[T]())),
		site:   site,
		goType: reflect.TypeFor[T](),
		opts:   opts,
		model:  tenantitem.ModelOf[T, PT],
		open: func(db *Database, s *entity, c *azcosmos.ContainerClient, cfg repository.Config) error {
			repo, err := repository.New[T, PT](c, cfg)
			if err != nil {
				return err
			}
			made(s, repo)
			if s.Policy == (parented.Policy{}) {
				return nil // a root without children keeps its plain delete
			}
			return parented.Register(db.forest, repo, s.Policy)
		},
	}
}

// entity makes the catalogue's row.
func (d *Declaration) entity() (*entity, error) {
	if d.model == nil {
		return nil, &tenantitem.InvalidError{What: "registration", Reason: "a Declaration was not made by this package", Hint: "use registry.EntityOf or registry.ChildOf"}
	}
	model, err := d.model()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d, err)
	}
	s := &entity{Entity: catalogue.Entity{EntityType: cmp.Or(d.name, model.Name), Model: model, Parent: d.parent, Declared: d}, from: d}
	for _, o := range d.opts {
		if err := o.apply(s); err != nil {
			return nil, fmt.Errorf("%s: %w", d, err)
		}
	}
	return s, nil
}

// callSite is where the exported function was called from: the line that a
// user has to change when registrations contradict each other.
func callSite() string {
	_, file, line, ok := runtime.Caller(2)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// typeName drops the package's path from type arguments.
func typeName(t reflect.Type) string {
	name := t.Name()
	if open := strings.IndexByte(name, '['); open >= 0 {
		if slash := strings.LastIndexByte(name, '/'); slash > open {
			return name[:open+1] + name[slash+1:]
		}
	}
	return name
}

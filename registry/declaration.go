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
	return declareEntity(callSite(), repository.New[T, PT], opts)
}

// declareEntity is generic over the entity's pointer; see [repository.Repository].
func declareEntity[P any](site string, newRepository func(*azcosmos.ContainerClient, repository.Config) (*repository.RepositoryOf[P], error), opts []Option) Declaration {
	root := reflect.TypeFor[P]().Elem()
	return Declaration{
		call:   fmt.Sprintf("registry.Entity[%s]", typeName(root)),
		site:   site,
		goType: root,
		opts:   opts,
		open: func(db *Database, s *entity, c *azcosmos.ContainerClient, cfg repository.Config) error {
			repo, err := newRepository(c, cfg)
			if err != nil {
				return err
			}
			s.made(repo)
			if s.Policy == (parented.Policy{}) {
				return nil // a root without children keeps its plain delete
			}
			return parented.Register(db.forest, repo, s.Policy)
		},
	}
}

// entity makes the catalogue's row.
func (d *Declaration) entity() (*entity, error) {
	if d.goType == nil {
		return nil, &tenantitem.InvalidError{What: "registration", Reason: "a Declaration was not made by this package", Hint: "use registry.EntityOf or registry.ChildOf"}
	}
	model, err := tenantitem.ModelOfType(d.goType)
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

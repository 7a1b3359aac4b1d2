package registry

import (
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// ChildOf declares a child entity type and what becomes of its documents when
// their parent is deleted, for [NewPlan]. With fx it is [Child].
func ChildOf[C, P any, PC parented.Child[C, P]](rule parented.Rule, opts ...Option) Declaration {
	return declareChild(callSite(), parented.New[C, P, PC], rule, opts)
}

// newChildRepository is [parented.New] over the pointers of a child and its parent.
type newChildRepository[C, P any] = func(*parented.Forest, *repository.RepositoryOf[P], *azcosmos.ContainerClient, parented.Config) (*parented.RepositoryOf[C, P], error)

// declareChild is generic over these pointers; see [parented.Repository].
func declareChild[C, P any](site string, newRepository newChildRepository[C, P], rule parented.Rule, opts []Option) Declaration {
	child, parent := reflect.TypeFor[C]().Elem(), reflect.TypeFor[P]().Elem()
	return Declaration{
		call:   fmt.Sprintf("registry.Child[%s, %s]", typeName(child), typeName(parent)),
		site:   site,
		goType: child,
		parent: parent,
		opts:   opts,
		open: func(db *Database, s *entity, c *azcosmos.ContainerClient, cfg repository.Config) error {
			parents, err := baseOf[P](db)
			if err != nil {
				return err
			}
			children, err := newRepository(db.forest, parents, c, parented.Config{Config: cfg, Rule: rule, Policy: s.Policy, UniqueParentIDs: db.hasUniqueIDs(parent)})
			if err != nil {
				return err
			}
			s.made(children.Items())
			s.children = children
			return nil
		},
	}
}

// hasUniqueIDs says what was registered of an entity type's ids.
func (db *Database) hasUniqueIDs(of reflect.Type) bool {
	s, ok := db.plan.entityOf(of)
	return ok && s.uniqueIDs
}

// ChildrenOf returns the repository of a child entity type. It fails when the
// child was not registered under that parent.
func ChildrenOf[C, P any, PC parented.Child[C, P]](db *Database) (*parented.Repository[C, P], error) {
	return childrenOf[*C, *P](db)
}

func childrenOf[C, P any](db *Database) (*parented.RepositoryOf[C, P], error) {
	child, parent := reflect.TypeFor[C]().Elem(), reflect.TypeFor[P]().Elem()
	if s, ok := db.plan.entityOf(child); ok {
		if repo, ok := s.children.(*parented.RepositoryOf[C, P]); ok {
			return repo, nil
		}
	}
	return nil, &tenantitem.InvalidError{
		What:   "repository",
		Reason: fmt.Sprintf("%s is not registered as a child of %s", child.Name(), parent.Name()),
		Hint:   fmt.Sprintf("add registry.Child[%s, %s](rule)", child.Name(), parent.Name()),
	}
}

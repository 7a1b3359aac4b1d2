package parented

import (
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Config says how a child entity type is stored and what becomes of it when its
// parent is deleted.
type Config struct {
	repository.Config
	// Rule is required; see [Cascade], [Restrict] and [Orphan].
	Rule Rule
	// UniqueParentIDs says that no two parents of a tenant have one id, though the
	// key of their container would allow it (/tenantId,/city). So it is where ids
	// are left to Grove. A child names its parent by the id alone then. Without this
	// it names the parent by the id and by fields of its own with the names that the
	// key's levels have ("city"); New refuses a child that lacks one.
	UniqueParentIDs bool
	// Policy says what a delete leaves of a child.
	Policy Policy
}

// Repository reads and writes the documents of one child entity type. Its methods are
// those of [RepositoryOf]; like [Scope], [Part] and [ParentedItem] it is a name for a
// type over pointers, because Go compiles code over pointers once for all
// entities, and code over structs once for each.
type Repository[C, P any] = RepositoryOf[*C, *P]

// RepositoryOf is [Repository] over the pointers of a child and of its parent. Bind it to a parent with
// Under, or to a tenant with In. It is safe for use by many goroutines. What [repository.RepositoryOf] has
// beside verbs, such as AllTenants, it has too, over the children of all parents.
type RepositoryOf[C, P any] struct {
	*items[C]
	parents  *repository.RepositoryOf[P]
	children *children
}

// items is embedded without becoming a member of its own.
type items[C any] = repository.RepositoryOf[C]

// New returns the repository of a child in a container and declares in the
// forest that it belongs to the parents' entity type. For grandchildren, pass
// the child's own [RepositoryOf.Items] as the parents. It sends nothing.
//
// It fails with [repository.ErrInvalid] when the struct, the names or the key
// don't fit together, when the rule is missing, when two parents of a tenant may
// have one id (see [Config.UniqueParentIDs]), and when the child was declared
// before, under this parent or another: a child has one parent type.
func New[C, P any, PC Child[C, P]](forest *Forest, parents *repository.Repository[P], container *azcosmos.ContainerClient, cfg Config) (*Repository[C, P], error) {
	return newOf[*C](forest, parents, container, cfg)
}

func newOf[C, P any](forest *Forest, parents *repository.RepositoryOf[P], container *azcosmos.ContainerClient, cfg Config) (*RepositoryOf[C, P], error) {
	if forest == nil || parents == nil {
		return nil, &tenantitem.InvalidError{What: "parents", Reason: "the forest or the parents' repository is nil", Hint: "make them with parented.NewForest and repository.New"}
	}
	r := &RepositoryOf[C, P]{items: new(items[C]), parents: parents}
	if err := engine.Bind(r.items, reflect.TypeFor[C]().Elem(), container, settingsOf(cfg.Config)); err != nil {
		return nil, err
	}
	var err error
	r.children, err = forest.declare(engine.CollectionOf(r.items), engine.CollectionOf(parents), cfg)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func settingsOf(cfg repository.Config) engine.Settings {
	return engine.Settings{
		EntityType: cfg.EntityType, Aliases: cfg.Aliases, PartitionKey: cfg.PartitionKey, Layout: cfg.Layout, CursorKey: cfg.CursorKey,
		Sessions: cfg.Sessions, Telemetry: engine.Telemetry(cfg.Telemetry), Ceiling: engine.CeilingOf(cfg.Ceiling),
	}
}

// Items returns the children as a plain repository: for reading them by id,
// for Mutate and Patch, and as the parents of their own children. Its writes
// follow the same rules.
//
//go:noinline
func (r *RepositoryOf[C, P]) Items() *repository.RepositoryOf[C] { return r.items }

// Parents returns the parents' repository.
//
//go:noinline
func (r *RepositoryOf[C, P]) Parents() *repository.RepositoryOf[P] { return r.parents }

// In binds a tenant, and further key values, over the children of all parents;
// see [repository.RepositoryOf.In]. A Create there needs the entity's ParentID.
//
//go:noinline
func (r *RepositoryOf[C, P]) In(tenant string, key ...any) *repository.ScopeOf[C] {
	return r.items.In(tenant, key...)
}

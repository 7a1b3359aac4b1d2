package parented

import (
	"fmt"
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

// Repository reads and writes the documents of one child entity type. Bind it to a parent with
// Under, or to a tenant with In. It is safe for use by many goroutines.
type Repository[C, P any] struct {
	forest   *Forest
	node     *node
	children *repository.Repository[C]
	parents  *repository.Repository[P]
	link     func(*C) (parentID *tenantitem.Ref[P], parentEntityType *string)
}

// New returns the repository of a child in a container and declares in the
// forest that it belongs to the parents' entity type. For grandchildren, pass
// the child's own [Repository.Items] as the parents. It sends nothing.
//
// It fails with [repository.ErrInvalid] when the struct, the names or the key
// don't fit together, when the rule is missing, when two parents of a tenant may
// have one id (see [Config.UniqueParentIDs]), and when the child was declared
// before, under this parent or another: a child has one parent type.
func New[C, P any, PC Child[C, P]](forest *Forest, parents *repository.Repository[P], container *azcosmos.ContainerClient, cfg Config) (*Repository[C, P], error) {
	if forest == nil || parents == nil {
		return nil, &tenantitem.InvalidError{What: "parents", Reason: "the forest or the parents' repository is nil", Hint: "make them with parented.NewForest and repository.New"}
	}
	children := new(repository.Repository[C])
	if err := engine.Bind(children, reflect.TypeFor[C](), container, settingsOf(cfg.Config)); err != nil {
		return nil, err
	}
	r := &Repository[C, P]{forest: forest, children: children, parents: parents}
	if engine.CollectionOf(children).IsGlobal() != engine.CollectionOf(parents).IsGlobal() {
		return nil, &tenantitem.InvalidError{What: "child " + children.EntityType(), Reason: "it and its parent " + parents.EntityType() + " do not both belong to tenants", Hint: "give both a Layout that is Global, or neither"}
	}
	r.link = func(c *C) (*tenantitem.Ref[P], *string) { return PC(c).mustEmbedParentedItem(c) }
	if err := r.join(cfg); err != nil {
		return nil, err
	}
	collection := engine.CollectionOf(children)
	if err := collection.SetValidator(engine.OwnerParented, engine.ValidatorFunc(r.beforeWrite)); err != nil {
		return nil, err
	}
	if err := collection.SetObserver(engine.OwnerParented, engine.ObserverFunc(r.afterWrite)); err != nil {
		return nil, err
	}
	collection.SetReadHook(r.readWithWrite)
	return r, nil
}

func settingsOf(cfg repository.Config) engine.Settings {
	return engine.Settings{
		EntityType: cfg.EntityType, Aliases: cfg.Aliases, PartitionKey: cfg.PartitionKey, Layout: cfg.Layout, CursorKey: cfg.CursorKey,
		Sessions: cfg.Sessions, Telemetry: engine.Telemetry(cfg.Telemetry), Ceiling: engine.CeilingOf(cfg.Ceiling),
	}
}

// join puts the child into the forest.
func (r *Repository[C, P]) join(cfg Config) error {
	if cfg.Rule == Orphan {
		for _, field := range engine.CollectionOf(r.children).GivenFields() {
			if field == parentField {
				return &tenantitem.InvalidError{What: "delete rule of " + r.children.EntityType(), Reason: "the parent's id is part of its partition key, which can't be cleared", Hint: "use Cascade or Restrict, or another key"}
			}
		}
	}
	levels, err := parentLevelsOf(engine.CollectionOf(r.children), engine.CollectionOf(r.parents), cfg.UniqueParentIDs)
	if err != nil {
		return err
	}
	if err := r.undeclared(); err != nil {
		return err
	}
	if err := Register(r.forest, r.children, cfg.Policy); err != nil {
		return err
	}
	r.forest.mu.Lock()
	defer r.forest.mu.Unlock()
	r.node = r.forest.node(engine.CollectionOf(r.children))
	if err := r.forest.relate(r.forest.node(engine.CollectionOf(r.parents)), r.node, cfg.Rule, levels); err != nil {
		return err
	}
	guardParent(r.node.parent)
	return nil
}

// undeclared refuses a child type that the forest has already.
func (r *Repository[C, P]) undeclared() error {
	for _, n := range r.forest.all() {
		if n.parent != nil && n.Model().Type == reflect.TypeFor[C]() {
			return declaredTwice(n, r.parents.EntityType())
		}
	}
	return nil
}

func declaredTwice(child *node, again string) error {
	return &tenantitem.InvalidError{
		What:   "child " + child.EntityType(),
		Reason: fmt.Sprintf("it was registered under %s and again under %s", child.parent.parent.EntityType(), again),
		Hint:   "register it once; a child has one parent type",
	}
}

// parentField is the JSON name of ParentedItem.ParentID.
const parentField = "parentId"

// Items returns the children as a plain repository: for reading them by id,
// for Mutate and Patch, and as the parents of their own children. Its writes
// follow the same rules.
func (r *Repository[C, P]) Items() *repository.Repository[C] { return r.children }

// Parents returns the parents' repository.
func (r *Repository[C, P]) Parents() *repository.Repository[P] { return r.parents }

// EntityType returns the stored name of the child entity type.
func (r *Repository[C, P]) EntityType() string { return r.children.EntityType() }

// In binds a tenant, and further key values, over the children of all parents;
// see [repository.RepositoryOf.In]. A Create there needs the entity's ParentID.
func (r *Repository[C, P]) In(tenant string, key ...any) *repository.Scope[C] {
	return r.children.In(tenant, key...)
}

// AllTenants reads across tenants; see [repository.RepositoryOf.AllTenants].
func (r *Repository[C, P]) AllTenants() *repository.Reader[C] { return r.children.AllTenants() }

package parented

import (
	"sync"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// ForestConfig is what the deletes of a forest share. The zero value is ready
// to use.
type ForestConfig struct {
	// Now gives the time that is stored as deletedAt; nothing is decided by it.
	// Defaults to time.Now.
	Now func() time.Time
	// PageSize is how many children are looked for at a time, 1 to 1,000. It
	// bounds the memory of a delete: one page for each level of the tree.
	// Defaults to 500.
	PageSize int
}

// Forest knows the entity types of an application and which of them belong to
// which. Put the repositories of one application into one forest, while it is
// wired and before the first verb; after that it may be used by many
// goroutines.
type Forest struct {
	cfg ForestConfig

	mu            sync.RWMutex
	nodes         []*node
	pendingChecks []pendingCheck // parents that have to be looked at again
}

// NewForest returns an empty forest.
func NewForest(cfg ForestConfig) *Forest {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.PageSize <= 0 || cfg.PageSize > 1000 {
		cfg.PageSize = 500
	}
	return &Forest{cfg: cfg}
}

// Policy says what a delete leaves of a document of one entity type. The zero
// value leaves nothing. Both fields need a container whose time to live is on;
// elsewhere what is left would stay forever.
type Policy struct {
	// Tombstone is how long a deleted document stays, hidden, so that readers
	// of the change feed see the delete. A purge leaves it too. It is counted
	// in whole seconds, rounded up. Defaults to 0: it is removed at once.
	Tombstone time.Duration
	// Retain is how long a deleted document can be restored, in whole seconds,
	// rounded up, by the service's clock from when its delete began; a longer
	// Tombstone counts in its place. Its descendants are kept with it, whatever
	// their own policy. Defaults to 0: it can't.
	Retain time.Duration
}

// node is one entity type of a forest.
type node struct {
	*engine.Collection
	policy   Policy
	children []*relation // of which this is the parent
	parent   *relation   // of which this is the child; nil for a root
}

// relation is a child entity type and the rule that its parent's deletes follow.
type relation struct {
	parent, child *node
	rule          Rule
	levels        []parentLevel // of the parent's key, that a child names beside its id
}

// Register puts a repository under the forest's deletes and says what they
// leave. Roots need it only for a policy of their own; [New] registers a child
// and its parent.
func Register[P any](f *Forest, repo *repository.RepositoryOf[P], policy Policy) error {
	if repo == nil {
		return f.register(nil, policy)
	}
	return f.register(engine.CollectionOf(repo), policy)
}

func (f *Forest) register(collection *engine.Collection, policy Policy) error {
	if f == nil || collection == nil {
		return &tenantitem.InvalidError{What: "forest", Reason: "the forest or the repository is nil", Hint: "make them with parented.NewForest and repository.New"}
	}
	if policy.Tombstone < 0 || policy.Retain < 0 {
		return &tenantitem.InvalidError{What: "policy of " + collection.EntityType(), Reason: "a duration is negative", Hint: "leave it at 0 or give it at least a second"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.node(collection)
	n.policy.Tombstone = max(n.policy.Tombstone, policy.Tombstone)
	n.policy.Retain = max(n.policy.Retain, policy.Retain)
	if n.policy != (Policy{}) {
		return f.applyRules(n)
	}
	return nil
}

// node finds the node of an entity type or makes it. The caller holds f.mu.
func (f *Forest) node(collection *engine.Collection) *node {
	for _, n := range f.nodes {
		if n.Same(collection) {
			return n
		}
	}
	n := &node{Collection: collection}
	f.nodes = append(f.nodes, n)
	collection.Tombstones = true
	return n
}

// relate records that child belongs to parent. The caller holds f.mu.
func (f *Forest) relate(parent, child *node, rule Rule, levels []parentLevel) error {
	switch {
	case rule < Cascade || rule > Orphan:
		return &tenantitem.InvalidError{What: "delete rule of " + child.EntityType(), Reason: rule.String() + " is none", Hint: "say parented.Cascade, parented.Restrict or parented.Orphan"}
	case parent == child:
		return &tenantitem.InvalidError{What: "child " + child.EntityType(), Reason: "it would be its own parent", Hint: "declare a second type for the nested ones"}
	case child.parent != nil:
		return declaredTwice(child, parent.EntityType())
	}
	for up := parent; up.parent != nil; up = up.parent.parent {
		if up.parent.parent == child {
			return &tenantitem.InvalidError{What: "child " + child.EntityType(), Reason: "it is an ancestor of its parent " + parent.EntityType(), Hint: "a tree of entity types has no cycles"}
		}
	}
	if err := f.applyRules(parent); err != nil {
		return err
	}
	r := &relation{parent: parent, child: child, rule: rule, levels: levels}
	parent.children = append(parent.children, r)
	child.parent = r
	return nil
}

// all returns the entity types in the order of registration.
func (f *Forest) all() []*node {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return append([]*node(nil), f.nodes...)
}

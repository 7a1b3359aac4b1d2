package engine

import (
	"crypto/rand"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cosmosgrove/grove/internal/cosmos"
	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Collection is one entity type in one container: what a typed repository is
// without its Go type. The delete rules, the copies and the tenant's life work
// with it: it sees documents that repositories hide, and changes them without
// hooks.
type Collection struct {
	Container  *cosmos.Container
	model      *tenantitem.Model
	entityType string
	aliases    []string
	levels     []keyLevel
	// layout maps documents and queries; nil in Grove's own form. underTenant
	// allows documents of no tenant in a tenant's context.
	layout      *layout.Layout
	underTenant bool
	// customKey says that the entity fills a level itself, so that writes have
	// to compare it.
	customKey bool
	// parentFields are those in which a child names its parent beside parentId.
	parentFields []*tenantitem.Field
	// Tombstones hides documents whose deletedAt is set.
	Tombstones         bool
	Cursors            cursorSigner
	sessions           *Sessions
	warm               atomic.Bool
	client             atomic.Uint32 // clientUnknown, clientReady or clientBare
	attempts           cosmos.Attempts
	Doubts             doubts
	writer             string
	writes             atomic.Uint64
	Mutexes            keyedMutex
	physicalPartitions partitionCache
	hooks              hooks
	reporter           *reporter
	ceiling            *Ceiling // nil for none
}

// Settings say how a collection is stored. The zero value is the default
// layout; the fields are those of repository.Config.
type Settings struct {
	EntityType   string
	Aliases      []string
	PartitionKey []string
	Layout       *Layout
	CursorKey    []byte
	Sessions     *Sessions
	Telemetry    Telemetry
	Ceiling      *Ceiling // nil for none
}

// Handle is embedded by a typed repository and leads to its collection.
type Handle struct{ c *Collection }

func (h *Handle) handle() *Handle { return h }

// Bound is a typed repository.
type Bound interface{ handle() *Handle }

// CollectionOf returns the collection behind a typed repository.
func CollectionOf(repo Bound) *Collection { return repo.handle().c }

// MetaOf returns the part of an entity that every document has.
func MetaOf(entity any) *tenantitem.Meta {
	item, ok := entity.(interface{ ItemMeta() *tenantitem.Meta })
	if !ok {
		return &tenantitem.Meta{} // what has a repository is an item by its constructor's constraint
	}
	return item.ItemMeta()
}

// Bind makes the collection of an item, by its struct's type, and puts a typed
// repository in front of it. It sends nothing.
func Bind(repo Bound, item reflect.Type, container *cosmos.Container, cfg Settings) error {
	model, err := tenantitem.ModelOfType(item)
	if err != nil {
		return err
	}
	c, err := newCollection(container, model, cfg)
	if err != nil {
		return err
	}
	repo.handle().c = c
	return nil
}

// decode reads a whole document into a new entity.
func (c *Collection) decode(raw []byte) (entity any, err error) {
	entity = c.NewEntity()
	return entity, documents.Decode(raw, entity)
}

// NewEntity makes an empty entity and returns its pointer.
func (c *Collection) NewEntity() any { return reflect.New(c.model.Type).Interface() }

func newCollection(container *cosmos.Container, model *tenantitem.Model, cfg Settings) (*Collection, error) {
	if container == nil {
		return nil, &tenantitem.InvalidError{What: "container", Reason: "it is nil", Hint: "make one with client.NewContainer"}
	}
	c := &Collection{Container: container, model: model, entityType: cfg.EntityType, aliases: slices.Clone(cfg.Aliases), sessions: cfg.Sessions}
	if c.sessions == nil {
		c.sessions = &Sessions{}
	}
	if c.entityType == "" {
		c.entityType = model.Name
	}
	validate := tenantitem.ValidateEntityType
	if cfg.Layout != nil { // what others store may hold a slash
		validate = func(name string) error { return tenantitem.ValidateKeyValue("entity type", name) }
		c.underTenant = cfg.Layout.UnderTenant
	}
	for _, name := range append([]string{c.entityType}, c.aliases...) {
		if err := validate(name); err != nil {
			return nil, fmt.Errorf("%s: %w", model.Name, err)
		}
	}
	for _, f := range model.Fields {
		if strings.HasPrefix(f.Path, "_") && f.Path != "_etag" && f.Path != "_ts" {
			return nil, &tenantitem.InvalidError{What: "entity " + model.Name, Reason: fmt.Sprintf("its field %q begins with an underscore, as those of the service and of Grove do", f.Path), Hint: "give the field another json tag"}
		}
	}
	paths := cfg.PartitionKey
	if len(paths) == 0 {
		paths = DefaultPartitionKey()
	}
	var err error
	if c.layout, c.levels, err = layoutOf(model, c.entityType, c.aliases, paths, cfg.Layout); err != nil {
		return nil, err
	}
	for _, level := range c.levels {
		c.customKey = c.customKey || level.isGiven()
	}
	if c.Cursors, err = newCursorSigner(cfg.CursorKey); err != nil {
		return nil, err
	}
	c.ceiling = cfg.Ceiling
	if c.reporter, err = newReporter(cfg.Telemetry); err != nil {
		return nil, err
	}
	c.writer = rand.Text()[:8]
	c.attempts = cosmos.NewAttempts()
	c.physicalPartitions = newPartitionCache()
	return c, nil
}

// EntityType returns the stored name of the entity type.
func (c *Collection) EntityType() string { return c.entityType }

// Names returns the stored name and the older ones.
func (c *Collection) Names() []string {
	return append([]string{c.entityType}, c.aliases...)
}

// Model returns the entity's fields.
func (c *Collection) Model() *tenantitem.Model { return c.model }

// KeyPaths returns the paths of the container's partition key.
func (c *Collection) KeyPaths() []string {
	paths := make([]string, 0, len(c.levels)+1)
	if c.layout != nil {
		paths = append(paths, "/"+tenantField)
	}
	for _, level := range c.levels {
		switch {
		case c.layout == nil:
			paths = append(paths, level.path)
		case level.isGiven():
			paths = append(paths, "/"+strings.ReplaceAll(level.source.Field, ".", "/"))
		default:
			paths = append(paths, "/"+entityField)
		}
	}
	return paths
}

// Owns reports whether a stored document is of this entity type.
func (c *Collection) Owns(raw []byte) bool {
	if c.layout != nil {
		raw, _ = c.layout.Canonical(raw) // one that is misplaced is owned too
	}
	return c.IsEntityType(readHeader(raw).EntityType)
}

// IsGlobal reports whether the documents belong to no tenant.
func (c *Collection) IsGlobal() bool { return c.layout.Global() }

// AllowsTenants reports whether global documents may be read under a context that is bound to a tenant.
func (c *Collection) AllowsTenants() bool { return c.underTenant }

// Same reports whether both are one collection.
func (c *Collection) Same(other *Collection) bool { return other != nil && c == other }

// IsEntityType reports whether documents of a stored name are of this entity type.
func (c *Collection) IsEntityType(name string) bool {
	return name == c.entityType || slices.Contains(c.aliases, name)
}

// Renamed moves a partition to where the entity type was stored under an older name.
func (c *Collection) Renamed(p Partition, entityType string) Partition {
	for i, level := range c.levels {
		if level.isEntityType() && i < len(p.Values) {
			p.Values = slices.Clone(p.Values)
			p.Values[i] = entityType
			p.Key = cosmos.NewPartitionKey(p.Values...)
		}
	}
	return p
}

// PartitionsOf returns the logical partitions in which a full scope's documents may lie:
// its own, and one for each older name if the key holds the entity type.
func (c *Collection) PartitionsOf(p Partition) []Partition {
	out := []Partition{p}
	for _, alias := range c.aliases {
		if moved := c.Renamed(p, alias); !slices.Equal(moved.Values, p.Values) {
			out = append(out, moved)
		}
	}
	return out
}

// Mark names one write. It is stored with the document, so that a write whose
// answer was lost can be recognised.
func (c *Collection) Mark() string {
	if c.layout.NoMarks() {
		return ""
	}
	return c.writer + ":" + strconv.FormatUint(c.writes.Add(1), 36)
}

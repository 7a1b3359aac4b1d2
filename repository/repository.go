package repository

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Config says how a species is stored. The zero value is the default layout.
type Config struct {
	// EntityType is the stored name of the species. Defaults to the Go type's
	// name; give one before the type is renamed.
	EntityType string
	// Aliases are older stored names that are read as this species too.
	// Documents keep the name that they were written under.
	Aliases []string
	// PartitionKey are the paths of the container's partition key, 1 to 3, the
	// first "/tenantId". Defaults to [DefaultPartitionKey].
	PartitionKey []string
	// CursorKey signs page cursors (HMAC-SHA256). Give every process of a
	// service the same secret of at least 16 bytes. Defaults to a random one,
	// so that a cursor is good only in the process that made it.
	CursorKey []byte
	// Sessions is what the process knows of the container's sessions. Give all
	// repositories of one container the same one, so that each reads what the
	// others wrote. Defaults to one of its own.
	Sessions *Sessions
	// Telemetry says where the repository reports what it does. Defaults to
	// OpenTelemetry's global providers and no log.
	Telemetry Telemetry
	// Tombstones hides documents whose deletedAt is set.
	Tombstones bool
}

// Repository reads and writes one species of document. Bind it to a tenant
// with [Repository.In]. It is safe for use by many goroutines and holds no
// connection of its own.
type Repository[T any] struct {
	core *core
	meta func(*T) *tenantitem.Meta
}

// core is what does not depend on the entity's type.
type core struct {
	container  *azcosmos.ContainerClient
	model      *tenantitem.Model
	entityType string
	aliases    []string
	levels     []keyLevel
	// customKey says that the entity fills a level itself, so that writes have
	// to compare it.
	customKey  bool
	tombstones bool
	cursors    cursorSigner
	sessions   *Sessions
	warm       atomic.Bool
	client     atomic.Uint32 // clientUnknown, clientReady or clientBare
	attempts   cosmos.Attempts
	doubts     doubts
	writer     string
	writes     atomic.Uint64
	mutexes    keyedMutex
	physicals  physicals
	hooks      Hooks
	reporter   *reporter
}

// New returns the repository of an aggregate root in a container. It sends
// nothing; the container must exist when the first verb is called (see
// registry.Provision).
//
// It fails with [ErrInvalid] when the entity's struct, names or key paths
// don't fit together.
func New[T any, PT tenantitem.Root[T]](container *azcosmos.ContainerClient, cfg Config) (*Repository[T], error) {
	return NewOf[T, PT](container, cfg)
}

// NewOf is [New] for any item. It is for packages that add a kind of item, as
// parented does; an application that used it for a child would go around the
// child's rules.
func NewOf[T any, PT tenantitem.Item[T]](container *azcosmos.ContainerClient, cfg Config) (*Repository[T], error) {
	if container == nil {
		return nil, &tenantitem.InvalidError{What: "container", Reason: "it is nil", Hint: "make one with client.NewContainer"}
	}
	model, err := tenantitem.ModelOf[T, PT]()
	if err != nil {
		return nil, err
	}
	c := &core{container: container, model: model, entityType: cfg.EntityType, aliases: slices.Clone(cfg.Aliases), sessions: cfg.Sessions, tombstones: cfg.Tombstones}
	if c.sessions == nil {
		c.sessions = &Sessions{}
	}
	if c.entityType == "" {
		c.entityType = model.Name
	}
	for _, name := range append([]string{c.entityType}, c.aliases...) {
		if err := tenantitem.ValidateEntityType(name); err != nil {
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
	if c.levels, err = keyLevels(model, paths); err != nil {
		return nil, err
	}
	for i, level := range c.levels {
		c.customKey = c.customKey || i > 0 && !level.isEntityType()
	}
	if c.cursors, err = newCursorSigner(cfg.CursorKey); err != nil {
		return nil, err
	}
	if c.reporter, err = newReporter(cfg.Telemetry); err != nil {
		return nil, err
	}
	c.writer = rand.Text()[:8]
	c.attempts = cosmos.NewAttempts()
	c.physicals = newPhysicals()
	return &Repository[T]{core: c, meta: func(e *T) *tenantitem.Meta { return PT(e).ItemMeta() }}, nil
}

// EntityType returns the stored name of the species.
func (r *Repository[T]) EntityType() string { return r.core.entityType }

// Model returns the entity's fields, references and declared copies.
func (r *Repository[T]) Model() *tenantitem.Model { return r.core.model }

// Container returns the SDK's client of the container. What is done with it
// goes around the tenant fence, the delete rules and the copies.
func (r *Repository[T]) Container() *azcosmos.ContainerClient { return r.core.container }

func (c *core) isSpecies(name string) bool {
	return name == c.entityType || slices.Contains(c.aliases, name)
}

// renamed moves a partition to where the species was stored under an older name.
func (c *core) renamed(p partition, entityType string) partition {
	for i, level := range c.levels {
		if level.isEntityType() && i < len(p.values) {
			p.values = slices.Clone(p.values)
			p.values[i] = entityType
			p.key = partitionKey(p.values)
		}
	}
	return p
}

// homes are the logical partitions in which a full scope's documents may lie:
// its own, and one for each older name if the key holds the entity type.
func (c *core) partitionsOf(p partition) []partition {
	out := []partition{p}
	for _, alias := range c.aliases {
		if moved := c.renamed(p, alias); !slices.Equal(moved.values, p.values) {
			out = append(out, moved)
		}
	}
	return out
}

// mark names one write. It is stored with the document, so that a write whose
// answer was lost can be recognised.
func (c *core) mark() string {
	return c.writer + ":" + strconv.FormatUint(c.writes.Add(1), 36)
}

// check refuses a document that does not belong where it was read from.
func (c *core) check(at *partition, meta *tenantitem.Meta) error {
	return c.checkNames(at, meta.TenantID, meta.EntityType)
}

func (c *core) checkNames(at *partition, tenant, entityType string) error {
	if !at.all && tenant != at.tenant {
		return ErrTenantMismatch
	}
	if !c.isSpecies(entityType) {
		return ErrEntityMismatch
	}
	return nil
}

// Hooks are how the packages above take part in a repository's verbs. They are
// set while the application is wired, before the first verb.
type Hooks struct {
	// BeforeWrite sees the entities of one write, or of a whole bulk, as
	// pointers to the repository's type, before they are encoded.
	BeforeWrite []func(ctx context.Context, tenant string, entities []any) error
	// Fill sees them after that and may change them and hide members beside
	// them. A bulk's are seen many at a time.
	Fill []func(ctx context.Context, w *Write) error
	// Guarded are the members that a patch may not change.
	Guarded []GuardedPath
	// Moves makes a change of a child's parent leave the old one in the
	// document, see MovedField.
	Moves bool
	// BeforeDelete may refuse the delete of a document by the application. It
	// does not see what goes with another document.
	BeforeDelete []func(ctx context.Context, d Deletion) error
	// Transaction says what changes in the same transaction as a document does.
	Transaction TransactionHook
	// AfterWrite sees them once they are stored; created says that each of
	// them is a new document. An error becomes the verb's.
	AfterWrite []func(ctx context.Context, tenant string, entities []any, created bool) error
	// Tombstones hides documents whose deletedAt is set, as Config.Tombstones does.
	Tombstones bool
	// Delete takes the place of removing the one document.
	Delete func(ctx context.Context, d Deletion) error
	// BatchDelete says how a delete under rules begins inside a batch, and how
	// it goes on once the batch is applied. It must do no I/O.
	BatchDelete func(d Deletion) (BatchDeletion, error)
	// PlanDelete says what Delete would do.
	PlanDelete func(ctx context.Context, d Deletion) (*DeletePlan, error)
	// Restore brings a document back that was deleted softly.
	Restore func(ctx context.Context, d Deletion) error
	// Purge removes a document that was deleted softly.
	Purge func(ctx context.Context, d Deletion) error
}

// Deletion is a delete that a hook carries out.
type Deletion struct {
	// TenantID and ID name the document.
	TenantID, ID string
	// Key are the scope's further key values, as they were given to In.
	Key []any
	// ETag is what the caller requires the document to have; empty is any.
	ETag string
	// Remove deletes the one document.
	Remove func(ctx context.Context, etag string) error
}

// BatchDeletion is a delete that begins with a mark in the document.
type BatchDeletion struct {
	// Mark holds the DeletedAt, TTL and Deletion that are set.
	Mark Stub
	// Finish carries the delete out; nil when the mark is all of it.
	Finish func(ctx context.Context) error
}

// Attach adds hooks to the repository. It must not be called once verbs are in
// use, and it is for Grove's own packages: its shape may change.
func (r *Repository[T]) Attach(h Hooks) {
	r.core.hooks.BeforeWrite = append(r.core.hooks.BeforeWrite, h.BeforeWrite...)
	r.core.hooks.Fill = append(r.core.hooks.Fill, h.Fill...)
	r.core.hooks.Guarded = append(r.core.hooks.Guarded, h.Guarded...)
	r.core.hooks.Moves = r.core.hooks.Moves || h.Moves
	r.core.hooks.BeforeDelete = append(r.core.hooks.BeforeDelete, h.BeforeDelete...)
	r.core.hooks.AfterWrite = append(r.core.hooks.AfterWrite, h.AfterWrite...)
	r.core.tombstones = r.core.tombstones || h.Tombstones
	if h.Transaction != nil {
		r.core.hooks.Transaction = h.Transaction
	}
	if h.Delete != nil {
		r.core.hooks.Delete = h.Delete
	}
	if h.BatchDelete != nil {
		r.core.hooks.BatchDelete = h.BatchDelete
	}
	if h.PlanDelete != nil {
		r.core.hooks.PlanDelete = h.PlanDelete
	}
	if h.Restore != nil {
		r.core.hooks.Restore = h.Restore
	}
	if h.Purge != nil {
		r.core.hooks.Purge = h.Purge
	}
}

// Meta returns the part of an entity that every document has.
func (r *Repository[T]) Meta(entity *T) *tenantitem.Meta { return r.meta(entity) }

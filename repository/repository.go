package repository

import (
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository/ceiling"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Config says how an entity type is stored. The zero value is the default layout.
type Config struct {
	// EntityType is the stored name of the entity type. Defaults to the Go type's
	// name; give one before the type is renamed.
	EntityType string
	// Aliases are older stored names that are read as this entity type too.
	// Documents keep the name that they were written under.
	Aliases []string
	// PartitionKey are the paths of the container's partition key, 1 to 3, the
	// first "/tenantId" unless a Layout says otherwise. Defaults to /tenantId
	// and /entityType.
	PartitionKey []string
	// Layout says how documents stand in a container that was not made for
	// Grove. Defaults to Grove's own form.
	Layout *layout.Layout
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
	// Ceiling bounds the request units a second of each tenant and of all.
	// Defaults to none.
	Ceiling *ceiling.Ceiling
}

// Repository reads and writes the documents of one entity type. Its methods are those
// of [RepositoryOf]; like [Scope], [Reader] and [Batch] it is a name for a type
// over T's pointer, because Go compiles code over pointers once for all
// entities, and code over structs once for each.
type Repository[T any] = RepositoryOf[*T]

// A verb is a file named after it: a typed method of ScopeOf, and below it the
// method of scope that does the work; get.go and patch.go show both kinds. What
// else a new verb needs is in verb.go.
//
// The methods of these types must not be inlined: each entity has wrappers for
// them, and the compiler would copy the methods into those.

// RepositoryOf is [Repository] over the pointer P of an entity. Bind it to a
// tenant with [RepositoryOf.In]. It is safe for use by many goroutines and
// holds no connection of its own.
type RepositoryOf[P any] struct{ handle }

// handle is how Grove's other packages reach what is behind a repository.
type handle = engine.Handle

// New returns the repository of an aggregate root in a container. It sends
// nothing; the container must exist when the first verb is called (see
// registry.Provision).
//
// It fails with [ErrInvalid] when the entity's struct, names or key paths
// don't fit together.
func New[T any, PT tenantitem.Root[T]](container *azcosmos.ContainerClient, cfg Config) (*Repository[T], error) {
	return newOf[*T](container, cfg)
}

func newOf[P any](container *azcosmos.ContainerClient, cfg Config) (*RepositoryOf[P], error) {
	r := new(RepositoryOf[P])
	if err := engine.Bind(&r.handle, reflect.TypeFor[P]().Elem(), container, cfg.settings()); err != nil {
		return nil, err
	}
	return r, nil
}

func (cfg Config) settings() engine.Settings {
	return engine.Settings{
		EntityType: cfg.EntityType, Aliases: cfg.Aliases, PartitionKey: cfg.PartitionKey, Layout: cfg.Layout, CursorKey: cfg.CursorKey,
		Sessions: cfg.Sessions, Telemetry: engine.Telemetry(cfg.Telemetry), Ceiling: engine.CeilingOf(cfg.Ceiling),
	}
}

// EntityType returns the stored name of the entity type.
//
//go:noinline
func (r *RepositoryOf[P]) EntityType() string { return engine.CollectionOf(&r.handle).EntityType() }

// Model returns the entity's fields, references and declared copies.
//
//go:noinline
func (r *RepositoryOf[P]) Model() *tenantitem.Model { return engine.CollectionOf(&r.handle).Model() }

// Container returns the SDK's client of the container. What is done with it
// goes around the checks of the tenant, the delete rules and the copies.
//
//go:noinline
func (r *RepositoryOf[P]) Container() *azcosmos.ContainerClient {
	return engine.CollectionOf(&r.handle).Container
}

// Package catalogue is what package registry shares with packages that serve
// many entity types of a database at once, such as declared copies: the rows of
// a plan, and the extensions that take part in making one.
package catalogue

import (
	"fmt"
	"reflect"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Entity is one row: a registered entity type and where it lives.
type Entity struct {
	// EntityType is the stored name, Aliases older ones.
	EntityType string
	Aliases    []string
	// Model is what the Go struct says about its fields.
	Model *tenantitem.Model
	// Parent is the parent's Go type; nil for an aggregate root.
	Parent reflect.Type
	// Container is the id of the container, PartitionKey its key's paths.
	Container    string
	PartitionKey []string
	// Layout is how documents stand there; nil is Grove's own form.
	Layout *layout.Layout
	// Declared is the registration, as in "registry.Entity[Note] (app.go:31)".
	Declared fmt.Stringer
	// TTL is how long documents live after their last write; 0 is as long as
	// their container's default.
	TTL time.Duration
	// TTLReason completes "it needs a time to live, because"; empty when it
	// needs none.
	TTLReason string
	// Policy says what a delete leaves.
	Policy parented.Policy

	// Collection and Repository, a *repository.Repository of the Go type, are
	// set when the plan is opened.
	Collection *engine.Collection
	Repository any
}

// String names the registration.
func (e *Entity) String() string { return e.Declared.String() }

// RequireTombstones makes deletes visible to readers of the change feed: a
// deleted document stays at least so long with its deletedAt set, hidden from
// every repository. A container whose time to live is off refuses it. It is to
// be called while the plan is made.
func (e *Entity) RequireTombstones(keep time.Duration, reason string) {
	e.Policy.Tombstone = max(e.Policy.Tombstone, keep)
	e.NeedsTTL(reason)
}

// NeedsTTL notes why the container's time to live must be on.
func (e *Entity) NeedsTTL(reason string) {
	if e.TTLReason == "" {
		e.TTLReason = reason
	}
}

// Source is a plan or an opened database.
type Source interface{ entities() []*Entity }

// Handle is embedded by a plan and a database and leads to their rows.
type Handle struct{ rows []*Entity }

func (h *Handle) entities() []*Entity { return h.rows }

func (h *Handle) set(rows []*Entity) { h.rows = rows }

// Entities returns the rows, sorted by the name of the entity type.
func Entities(of Source) []*Entity { return of.entities() }

// Of returns the row of a Go type.
func Of(source Source, t reflect.Type) (*Entity, bool) {
	for _, e := range source.entities() {
		if e.Model.Type == t {
			return e, true
		}
	}
	return nil, false
}

// Set gives a plan or a database its rows.
func Set(source interface{ set([]*Entity) }, rows []*Entity) { source.set(rows) }

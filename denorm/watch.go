package denorm

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// WatchOptions says what a [Watch] shows, and where it begins. The zero value
// shows all tenants from now on.
type WatchOptions struct {
	// WatchOptions are those of the feed. Session defaults to what the
	// repository has seen.
	changefeed.WatchOptions
	// TenantID limits the watch to one tenant. Empty is all of them; with a
	// tenant in the context (repository.WithTenant) it must be that one, and
	// defaults to it. Documents of no tenant (Layout.Global) are watched without one,
	// under a tenant's context if Layout.UnderTenant allows it.
	TenantID string
}

// EventKind says what became of a document.
type EventKind uint8

const (
	// Stored is a document that was created or changed: the feed shows what a
	// document is now, and not what it was.
	Stored EventKind = iota + 1
	// Deleted is a document that was deleted. The feed has no deletes, so it
	// comes for entity types that leave a mark behind for a time: those with a
	// soft delete, a tombstone, or of which copies, counts or links are kept.
	Deleted
)

// String returns the name.
func (k EventKind) String() string {
	switch k {
	case Stored:
		return "Stored"
	case Deleted:
		return "Deleted"
	}
	return "EventKind(0)"
}

// Event is a change of one entity.
type Event[T any] struct {
	Kind EventKind
	// TenantID and ID name the document.
	TenantID, ID string
	// Entity is the document as it is after the change; nil when it was deleted.
	Entity *T

	change changefeed.Change
}

// Position is where a watch goes on behind this event; see
// [changefeed.Change.Position].
func (e Event[T]) Position() string { return e.change.Position() }

// Watch follows the changes of one entity type, under the rules of
// [changefeed.Watch]: every process that watches sees every change, about a
// second after it was made. It is for caches and live pages.
//
// A document that does not fit the struct is yielded as a
// [*repository.DecodeError], with its id and tenant in the event, and the watch
// goes on. Any other error ends it. Other types and tenants of the container are
// read too, and passed over.
func Watch[T any](ctx context.Context, repo *repository.Repository[T], opts WatchOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		for seen, err := range watch(ctx, engine.CollectionOf(repo), opts) {
			e := Event[T]{Kind: seen.kind, TenantID: seen.header.TenantID, ID: seen.header.ID, change: seen.change}
			if err == nil && seen.kind == Stored {
				e.Entity, err = entityOf[T](seen.stored, seen.header.ID)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func entityOf[T any](stored []byte, id string) (*T, error) {
	entity := new(T)
	if err := document.Decode(stored, entity); err != nil {
		return nil, &repository.DecodeError{ID: id, Err: err}
	}
	return entity, nil
}

// watched is a change of one entity type, in Grove's form.
type watched struct {
	kind   EventKind
	change changefeed.Change
	stored []byte
	header document.Header
}

// watch passes over what is of other types and tenants. A document that does not fit the form is an
// error that has its header.
func watch(ctx context.Context, collection *engine.Collection, opts WatchOptions) iter.Seq2[watched, error] {
	return func(yield func(watched, error) bool) {
		tenant, err := watchedTenant(ctx, collection, opts.TenantID)
		if err != nil {
			yield(watched{}, err)
			return
		}
		if opts.Session == nil {
			opts.Session = collection.SessionToken
		}
		for change, err := range changefeed.Watch(ctx, collection.Container, opts.WatchOptions) {
			if err != nil {
				yield(watched{}, err)
				return
			}
			stored, err := collection.Canonical(change.Document)
			if errors.Is(err, repository.ErrEntityMismatch) {
				continue
			}
			h := document.ReadHeader(stored)
			if tenant != "" && h.TenantID != tenant {
				continue
			}
			seen := watched{kind: Stored, change: change, stored: stored, header: h}
			if h.DeletedAt != "" {
				seen.kind, err = Deleted, nil
			}
			if !yield(seen, err) {
				return
			}
		}
	}
}

// watchedTenant is the tenant to show; empty is all. Of documents that belong to none, a tenant would show nothing.
func watchedTenant(ctx context.Context, collection *engine.Collection, asked string) (string, error) {
	bound, ok := repository.TenantFrom(ctx)
	if collection.IsGlobal() {
		switch {
		case asked != "":
			return "", &tenantitem.InvalidError{What: "WatchOptions.TenantID", Reason: collection.EntityType() + " belongs to no tenant", Hint: "leave it out"}
		case ok && !collection.AllowsTenants():
			return "", repository.ErrTenantMismatch
		}
		return "", nil
	}
	tenant := cmp.Or(asked, bound)
	if ok && tenant != bound {
		return "", repository.ErrTenantMismatch
	}
	if tenant == "" {
		return "", nil
	}
	return tenant, tenantitem.ValidateTenantID(tenant)
}

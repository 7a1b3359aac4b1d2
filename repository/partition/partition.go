// Package partition reads documents of several entity types that lie in one
// logical partition of one container with one query, such as a customer and its
// orders under /customerId:
//
//	customer := partition.FindID(customers.Global(), "c1")
//	sales := partition.Find(orders.Global("c1"), repository.All(), 100)
//	err := partition.Read(ctx, customer, sales)
//
// [Find] and [FindID] make [Documents], and [Read] fills them: each is a [Part].
// The types need know nothing of each other. What writes them together, in one
// transaction, is [Commit]. For children in other partitions than their parent
// there is parented.Load.
package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Documents are those of one entity type that [Read] finds. They may be read
// again, which replaces what was found, but not by two goroutines at once.
type Documents[T any] struct {
	// Items are what was found, in no particular order; at most as many as
	// [Find] asks for.
	Items []*T
	// More says that there are more; read them with Scope.Page.
	More bool

	prepare func() *engine.Lookup
	err     error
	lookup  *engine.Lookup
}

// Part is any [*Documents], for [Read].
type Part interface {
	begin() (*engine.Lookup, error)
	end()
}

// maxSize bounds what one read brings into memory.
const maxSize = 1000

// Find prepares to read up to size documents of a scope, 1 to 1,000. The query
// is one of conditions, [repository.Where] or [repository.All]: an order or a
// limit would be that of all types together, so Read refuses them, and
// conditions in SQL. The scope has to be one logical partition.
func Find[T any](scope *repository.Scope[T], q repository.Query, size int) *Documents[T] {
	d := &Documents[T]{prepare: func() *engine.Lookup { return engine.LookFor(scope, engine.QueryOf(q), size) }}
	if size < 1 || size > maxSize {
		d.err = &tenantitem.InvalidError{What: "read of one partition", Reason: fmt.Sprintf("a size is %d", size), Hint: "use 1 to 1000, and Scope.Page for more"}
	}
	return d
}

// FindID prepares to read one document by its id, which may be all that says
// where it lies.
func FindID[T any](scope *repository.Scope[T], id string) *Documents[T] {
	return &Documents[T]{
		prepare: func() *engine.Lookup { return engine.LookForID(scope, id) },
		err:     tenantitem.ValidateID(id),
	}
}

// One returns the first document that was found, or [repository.ErrNotFound].
func (d *Documents[T]) One() (*T, error) {
	if len(d.Items) == 0 {
		return nil, repository.ErrNotFound
	}
	return d.Items[0], nil
}

func (d *Documents[T]) begin() (*engine.Lookup, error) {
	d.Items, d.More = nil, false
	if d.err != nil {
		return nil, d.err
	}
	d.lookup = d.prepare()
	return d.lookup, nil
}

func (d *Documents[T]) end() {
	d.Items, d.More = engine.Found[*T](d.lookup), d.lookup.More
}

// Read reads all parts with one query of their logical partition, which they
// share; each is of another entity type. It fails with
// [repository.ErrInvalid], before any request, where that can't be.
//
// A document that does not fit its struct is a [*repository.DecodeError] in the
// error, by its id; all others have been read then.
func Read(ctx context.Context, parts ...Part) error {
	lookups := make([]*engine.Lookup, len(parts))
	for i, p := range parts {
		var err error
		if lookups[i], err = p.begin(); err != nil {
			return err
		}
	}
	err := engine.ReadInOneQuery(ctx, lookups...)
	var unread *repository.DecodeError
	if err != nil && !errors.As(err, &unread) {
		return err
	}
	for _, p := range parts {
		p.end()
	}
	return err
}

// Commit applies several batches as one: documents of different entity types
// that share a logical partition of one container, such as a customer and its
// orders under /tenantId,/customerId. The batches are [*repository.Batch] of
// any entity type; anything else is [repository.ErrInvalid]. Batches of two
// tenants are [repository.ErrTenantMismatch] where the key would let them share
// a partition.
func Commit(ctx context.Context, batches ...interface{ Commit(context.Context) error }) error {
	return engine.CommitTogether(ctx, batches)
}

package repository

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Mutate reads a document, lets change alter it, and replaces it; when another
// writer came between, it starts again with the newer document, so change may
// run several times, at most 100, and must do nothing but alter its argument; after that
// it is [ErrPreconditionFailed]. An error of
// change ends it and is returned; nothing is written then. A lost answer is told by the
// mark of the write, also when others have written since; where it can't be, the error is
// [ErrAmbiguous]. The returned entity
// is as stored, with its new etag.
//
// Mutations of one document by one repository take turns, which spares them
// most conflicts. The id, tenant and entity type must not be changed.
//
//go:noinline
func (s *ScopeOf[P]) Mutate(ctx context.Context, id string, change func(P) error) (P, error) {
	var erased func(any) error
	if change != nil {
		erased = func(entity any) error { return change(entity.(P)) }
	}
	return as[P](s.Reader.scope.Mutate(ctx, id, erased))
}

func (s *scope) Mutate(ctx context.Context, id string, change func(any) error) (any, error) {
	k := engine.Call{Collection: s.c, Op: "Mutate", At: &s.at, ID: id}
	ctx = s.c.WithJoinedRead(k.Begin(ctx))
	entity, err := s.mutate(ctx, &k, change)
	return entity, k.End(err)
}

func (s *scope) mutate(ctx context.Context, k *engine.Call, change func(any) error) (any, error) {
	s, err := s.startPoint(ctx, k)
	if err != nil {
		return nil, err
	}
	if change == nil {
		return nil, &tenantitem.InvalidError{What: "change", Reason: "it is nil", Hint: "pass a function that alters the entity"}
	}
	unlock, err := k.Collection.Mutexes.Lock(ctx, engine.MutexKey{Tenant: s.at.Tenant, Key: engine.KeyText(s.at.Values), ID: k.ID})
	if err != nil {
		return nil, err
	}
	defer unlock()
	for attempt := 0; ; attempt++ {
		entity, err := s.mutateOnce(ctx, k, change)
		if err == nil {
			return entity, nil
		}
		if engine.StatusOf(err) != http.StatusPreconditionFailed || attempt+1 == engine.MaxMutations {
			return nil, err
		}
		if !engine.Sleep(ctx, rand.N(min(time.Millisecond<<min(attempt, 8), engine.LongestPause/4))) {
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}

func (s *scope) mutateOnce(ctx context.Context, k *engine.Call, change func(any) error) (any, error) {
	entity, raw, err := s.get(ctx, k)
	if err != nil {
		return nil, err
	}
	meta := engine.MetaOf(entity)
	before := *meta
	if err := change(entity); err != nil {
		return nil, engine.Foreign(err)
	}
	if meta.ID != before.ID || meta.TenantID != before.TenantID || meta.EntityType != before.EntityType {
		return nil, &tenantitem.InvalidError{What: "change", Reason: "it altered the id, the tenant or the entity type", Hint: "create a new document and delete the old one"}
	}
	meta.ETag = before.ETag
	current := engine.ReadMarks(raw)
	current.Raw = raw
	return entity, s.replaceOnce(ctx, k, entity, current)
}

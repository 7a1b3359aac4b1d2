package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Create stores a new document. An empty id gets a new one; tenant, entity
// type and empty key fields are filled from the scope, and the etag comes back
// into the entity. It fails with [ErrConflict] when the id is taken.
//
//go:noinline
func (s *ScopeOf[P]) Create(ctx context.Context, entity P) error {
	return s.Reader.scope.Create(ctx, entity)
}

func (s *scope) Create(ctx context.Context, entity any) error {
	k := engine.Call{Collection: s.c, Op: "Create", At: &s.at}
	ctx = s.c.WithJoinedRead(k.Begin(ctx))
	return k.End(s.create(ctx, &k, entity))
}

func (s *scope) create(ctx context.Context, k *engine.Call, entity any) error {
	at, err := s.startWrite(ctx, k, entity, engine.Creates)
	var kept engine.Document
	if err == nil {
		at, kept, err = s.whereToCreate(ctx, k, at, entity)
	}
	if err != nil {
		return err
	}
	hidden, err := s.beforeOne(ctx, entity, engine.Creates, nil)
	if err != nil {
		return err
	}
	mark := k.Collection.Mark()
	body, err := s.encode(entity, []string{engine.CreatedRoot + mark}, hidden)
	if err != nil {
		return err
	}
	var etag string
	var overwrote bool
	if kept.ID != "" {
		etag, overwrote, err = s.createOver(ctx, k, &at, kept, entity, body, mark)
	} else {
		etag, overwrote, err = s.createAnew(ctx, k, &at, entity, body, mark)
	}
	if err != nil {
		return err
	}
	s.written(entity, etag, body)
	return s.afterWrite(ctx, !overwrote, entity)
}

// startWrite is what every write of one whole entity does before any request.
func (s *scope) startWrite(ctx context.Context, k *engine.Call, entity any, kind engine.WriteKind) (at engine.Partition, err error) {
	if err := k.Start(ctx); err != nil {
		return at, err
	}
	if err := s.at.RequireWritable(k.Collection); err != nil {
		return at, err
	}
	at, err = s.bindEntity(entity, kind != engine.Replaces)
	if err != nil {
		return at, err
	}
	k.ID = engine.MetaOf(entity).ID
	// The document is built once without what hooks add, so that bad input
	// costs no request of theirs.
	if k.Collection.SeesWrites() || k.Collection.Leads() {
		_, err = s.encode(entity, nil, nil)
	}
	return at, err
}

package repository

import (
	"context"
	"errors"
	"net/http"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Get reads one document by its id: a point read, about 1 RU for each KB.
// It fails with [ErrNotFound] when there is none in this scope, and with a
// [*DecodeError] when what is there does not fit the struct.
//
//go:noinline
func (s *ScopeOf[P]) Get(ctx context.Context, id string) (P, error) {
	return as[P](s.Reader.scope.Get(ctx, id))
}

func (s *scope) Get(ctx context.Context, id string) (any, error) {
	k := engine.Call{Collection: s.c, Op: "Get", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	entity, _, err := s.get(ctx, &k)
	return entity, k.End(err)
}

// Exists reports whether there is a document with that id. It costs a point
// read; only the answer's body is spared from decoding.
//
//go:noinline
func (s *ScopeOf[P]) Exists(ctx context.Context, id string) (bool, error) {
	return s.Reader.scope.Exists(ctx, id)
}

func (s *scope) Exists(ctx context.Context, id string) (bool, error) {
	k := engine.Call{Collection: s.c, Op: "Exists", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	_, _, err := s.get(ctx, &k)
	if errors.Is(err, ErrNotFound) || engine.StatusOf(err) == http.StatusNotFound {
		return false, k.End(nil)
	}
	return err == nil, k.End(err)
}

// get reads the entity and hands back the stored bytes too.
func (s *scope) get(ctx context.Context, k *engine.Call) (any, []byte, error) {
	s, err := s.startPoint(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	for _, partition := range k.Collection.PartitionsOf(s.at) {
		var raw []byte
		raw, err = k.ReadItem(ctx, &partition)
		if engine.StatusOf(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		entity, err := s.decode(raw)
		return entity, raw, err
	}
	return nil, nil, err
}

// startPoint is what every verb about one document checks before any request. It
// returns the scope of the document's logical partition.
func (s *scope) startPoint(ctx context.Context, k *engine.Call) (*scope, error) {
	if err := k.Start(ctx); err != nil {
		return s, err
	}
	if err := s.at.RequireWritable(k.Collection); err != nil {
		return s, err
	}
	if err := tenantitem.ValidateID(k.ID); err != nil {
		return s, err
	}
	at, moved, err := k.Locate(ctx)
	if err != nil || !moved {
		return s, err
	}
	s = s.located(at)
	k.At = &s.at
	return s, nil
}

// decode turns stored bytes into an entity and checks that it belongs here.
func (s *scope) decode(raw []byte) (any, error) {
	entity := s.c.NewEntity()
	if err := documents.Decode(raw, entity); err != nil {
		unread := engine.Row{}
		unread.Read(raw, err)
		if err := s.checkRow(&unread); err != nil {
			return nil, err
		}
		return nil, unread.Err
	}
	meta := engine.MetaOf(entity)
	if err := s.c.Check(&s.at, meta); err != nil {
		return nil, err
	}
	if s.c.Tombstones && !s.at.Deleted && meta.Deleted() {
		return nil, ErrNotFound
	}
	return entity, nil
}

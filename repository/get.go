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
func (s *Scope[T]) Get(ctx context.Context, id string) (*T, error) {
	k := engine.Call{Collection: s.repo.core(), Op: "Get", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	entity, _, err := s.get(ctx, &k)
	return entity, k.End(err)
}

// Exists reports whether there is a document with that id. It costs a point
// read; only the answer's body is spared from decoding.
func (s *Scope[T]) Exists(ctx context.Context, id string) (bool, error) {
	k := engine.Call{Collection: s.repo.core(), Op: "Exists", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	_, _, err := s.get(ctx, &k)
	if errors.Is(err, ErrNotFound) || engine.StatusOf(err) == http.StatusNotFound {
		return false, k.End(nil)
	}
	return err == nil, k.End(err)
}

// get reads the entity and hands back the stored bytes too.
func (s *Scope[T]) get(ctx context.Context, k *engine.Call) (*T, []byte, error) {
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
func (s *Scope[T]) startPoint(ctx context.Context, k *engine.Call) (*Scope[T], error) {
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
func (r *Reader[T]) decode(raw []byte) (*T, error) {
	entity := new(T)
	if err := documents.Decode(raw, entity); err != nil {
		unread := row[T]{}
		unread.Read(raw, err)
		if err := r.checkRow(&unread); err != nil {
			return nil, err
		}
		return nil, unread.err
	}
	meta := r.repo.meta(entity)
	if err := r.repo.core().Check(&r.at, meta); err != nil {
		return nil, err
	}
	if r.repo.core().Tombstones && !r.at.Deleted && meta.Deleted() {
		return nil, ErrNotFound
	}
	return entity, nil
}

package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	documents "github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Get reads one document by its id: a point read, about 1 RU for each KB.
// It fails with [ErrNotFound] when there is none in this scope, and with a
// [*DecodeError] when what is there does not fit the struct.
func (s *Scope[T]) Get(ctx context.Context, id string) (*T, error) {
	k := call{core: s.repo.core, op: "Get", at: &s.at, id: id}
	ctx = k.begin(ctx)
	entity, _, err := s.get(ctx, &k)
	return entity, k.end(err)
}

// Exists reports whether there is a document with that id. It costs a point
// read; only the answer's body is spared from decoding.
func (s *Scope[T]) Exists(ctx context.Context, id string) (bool, error) {
	k := call{core: s.repo.core, op: "Exists", at: &s.at, id: id}
	ctx = k.begin(ctx)
	_, _, err := s.get(ctx, &k)
	if errors.Is(err, ErrNotFound) || statusOf(err) == http.StatusNotFound {
		return false, k.end(nil)
	}
	return err == nil, k.end(err)
}

// get reads the entity and hands back the stored bytes too.
func (s *Scope[T]) get(ctx context.Context, k *call) (*T, []byte, error) {
	if err := s.startPoint(ctx, k); err != nil {
		return nil, nil, err
	}
	var err error
	for _, home := range k.core.partitionsOf(s.at) {
		var raw []byte
		raw, err = k.readItem(ctx, &home)
		if statusOf(err) == http.StatusNotFound {
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

// startPoint is what every verb about one document checks before any request.
func (s *Scope[T]) startPoint(ctx context.Context, k *call) error {
	if err := k.start(ctx); err != nil {
		return err
	}
	if err := s.at.requireFull(k.core); err != nil {
		return err
	}
	return tenantitem.ValidateID(k.id)
}

func (k *call) readItem(ctx context.Context, at *partition) ([]byte, error) {
	var raw []byte
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, err
	}
	x := exchange{exempt: k.exempt, at: at}
	err = k.read(ctx, &x, func(ctx context.Context) (azcosmos.Response, error) {
		resp, err := k.core.container.ReadItem(ctx, at.key, k.id, &azcosmos.ItemOptions{
			SessionToken:     token,
			PriorityLevel:    priorityFrom(ctx),
			ThroughputBucket: bucketFrom(ctx),
		})
		raw = resp.Value
		return resp.Response, err
	})
	return raw, err
}

// decode turns stored bytes into an entity and checks that it belongs here.
func (r *Reader[T]) decode(raw []byte) (*T, error) {
	entity := new(T)
	if err := documents.Decode(raw, entity); err != nil {
		unread := row[T]{}
		unread.read(raw, err)
		if err := r.checkRow(&unread); err != nil {
			return nil, err
		}
		return nil, unread.err
	}
	meta := r.repo.meta(entity)
	if err := r.repo.core.check(&r.at, meta); err != nil {
		return nil, err
	}
	if r.repo.core.tombstones && !r.at.deleted && meta.Deleted() {
		return nil, ErrNotFound
	}
	return entity, nil
}

// isUndecodable reports that one document can't be read.
func isUndecodable(err error) bool {
	var decode *DecodeError
	return errors.As(err, &decode)
}

// decodeError is an answer that arrived and does not fit; asking again would
// bring the same.
type decodeError struct{ err error }

func (e *decodeError) Error() string { return e.err.Error() }
func (e *decodeError) Unwrap() error { return e.err }

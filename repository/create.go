package repository

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Create stores a new document. An empty id gets a new one; tenant, entity
// type and empty key fields are filled from the scope, and the etag comes back
// into the entity. It fails with [ErrConflict] when the id is taken.
func (s *Scope[T]) Create(ctx context.Context, entity *T) error {
	k := call{core: s.repo.core, op: "Create", at: &s.at}
	ctx = k.begin(ctx)
	return k.end(s.create(ctx, &k, entity))
}

func (s *Scope[T]) create(ctx context.Context, k *call, entity *T) error {
	at, err := s.startWrite(ctx, k, entity, true)
	if err != nil {
		return err
	}
	stamp := k.core.stamp()
	body, err := s.encode(entity, []string{createdRoot + stamp})
	if err != nil {
		return err
	}
	etag, err := s.createAnew(ctx, k, &at, body, stamp)
	if err != nil {
		return err
	}
	s.written(entity, etag)
	return s.afterWrite(ctx, true, entity)
}

// createItem stores a new document and returns its etag.
func (k *call) createItem(ctx context.Context, at *partition, body []byte, stamp string) (etag string, err error) {
	err = k.write(ctx, func(ctx context.Context) (azcosmos.Response, error) {
		resp, err := k.core.container.CreateItem(ctx, at.key, body, writeOptions(ctx, ""))
		etag = string(resp.ETag)
		return resp.Response, err
	}, func(ctx context.Context) (outcome, error) {
		return k.lookFor(ctx, at, stamp, basis{absent: true}, &etag)
	})
	return etag, err
}

// startWrite is what every write of one whole entity does before any request.
func (s *Scope[T]) startWrite(ctx context.Context, k *call, entity *T, newID bool) (partition, error) {
	if err := k.start(ctx); err != nil {
		return partition{}, err
	}
	if err := s.at.requireFull(k.core); err != nil {
		return partition{}, err
	}
	at, err := s.adopt(entity, newID)
	if err != nil {
		return partition{}, err
	}
	k.id = s.repo.meta(entity).ID
	// The document is built once without what hooks add, so that bad input
	// costs no request of theirs.
	if len(k.core.hooks.BeforeWrite) > 0 {
		if _, err := s.encode(entity, nil); err != nil {
			return partition{}, err
		}
	}
	return at, s.beforeWrite(ctx, entity)
}

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
	at, err := s.startWrite(ctx, k, entity, creates)
	if err == nil {
		err = k.refuseTaken(ctx, at)
	}
	if err != nil {
		return err
	}
	hidden, err := s.beforeOne(ctx, entity, creates, nil)
	if err != nil {
		return err
	}
	stamp := k.core.stamp()
	body, err := s.encode(entity, []string{createdRoot + stamp}, hidden)
	if err != nil {
		return err
	}
	etag, err := s.createAnew(ctx, k, &at, entity, body, stamp)
	if err != nil {
		return err
	}
	s.written(entity, etag, body)
	return s.afterWrite(ctx, true, entity)
}

// createItem stores a new document and returns its etag.
func (k *call) createItem(ctx context.Context, at *partition, entity any, body []byte, stamp string) (etag string, err error) {
	if k.core.hooks.Beside != nil {
		op := batchOp{verb: "Create", id: k.id, stamp: stamp, entity: entity}
		if op.creates(k.core, body); op.concerns() {
			result, err := k.besideOne(ctx, at, op)
			return string(result.ETag), err
		}
	}
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
func (s *Scope[T]) startWrite(ctx context.Context, k *call, entity *T, kind writeKind) (at partition, err error) {
	if err := k.start(ctx); err != nil {
		return at, err
	}
	if err := s.at.requireFull(k.core); err != nil {
		return at, err
	}
	at, err = s.adopt(entity, kind != replaces)
	if err != nil {
		return at, err
	}
	k.id = s.repo.meta(entity).ID
	// The document is built once without what hooks add, so that bad input
	// costs no request of theirs.
	if k.core.hooks.seeWrites() || k.core.leads() {
		_, err = s.encode(entity, nil, nil)
	}
	return at, err
}

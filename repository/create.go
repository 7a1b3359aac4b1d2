package repository

import "context"

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
	mark := k.core.mark()
	body, err := s.encode(entity, []string{createdRoot + mark}, hidden)
	if err != nil {
		return err
	}
	etag, err := s.createAnew(ctx, k, &at, entity, body, mark)
	if err != nil {
		return err
	}
	s.written(entity, etag, body)
	return s.afterWrite(ctx, true, entity)
}

// createItem stores a new document and returns its etag.
func (k *call) createItem(ctx context.Context, at *partition, entity any, body []byte, mark string) (etag string, err error) {
	op := operation{id: k.id, mark: mark, entity: entity}
	op.writes(k.core, opCreate, body)
	done, err := k.writeOne(ctx, at, op)
	return done.etag, err
}

// startWrite is what every write of one whole entity does before any request.
func (s *Scope[T]) startWrite(ctx context.Context, k *call, entity *T, kind writeKind) (at partition, err error) {
	if err := k.start(ctx); err != nil {
		return at, err
	}
	if err := s.at.requireFull(k.core); err != nil {
		return at, err
	}
	at, err = s.bindEntity(entity, kind != replaces)
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

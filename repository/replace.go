package repository

import (
	"context"
	"net/http"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Replace writes the whole document if it is still the one that the entity was
// read as; the entity's ETag is required. When it has changed, the error is a
// [*ConflictError] with the document as it is now (and is
// [ErrPreconditionFailed]); when it is gone, [ErrNotFound].
func (s *Scope[T]) Replace(ctx context.Context, entity *T) error {
	k := call{core: s.repo.core, op: "Replace", at: &s.at}
	ctx = k.begin(ctx)
	return k.end(s.replace(ctx, &k, entity))
}

// Save creates the document when the entity has no ETag and replaces it when
// it has one, so that it can neither overwrite another writer's change nor
// bring a deleted document back. Errors are those of Create and Replace.
func (s *Scope[T]) Save(ctx context.Context, entity *T) error {
	k := call{core: s.repo.core, op: "Save", at: &s.at}
	ctx = k.begin(ctx)
	if entity == nil || s.repo.meta(entity).ETag == "" {
		return k.end(s.create(ctx, &k, entity))
	}
	return k.end(s.replace(ctx, &k, entity))
}

func (s *Scope[T]) replace(ctx context.Context, k *call, entity *T) error {
	err := s.replaceOnce(ctx, k, entity, nil)
	if err == nil {
		return nil
	}
	wrapped := k.fail(err)
	if statusOf(err) != http.StatusPreconditionFailed {
		return wrapped
	}
	read := call{core: k.core, op: k.op, at: k.at, id: k.id, watch: k.watch}
	current, _, readErr := s.get(ctx, &read)
	if readErr != nil {
		return wrapped // gone or unreadable meanwhile: the conflict stands without it
	}
	return &ConflictError[T]{Current: current, Err: wrapped}
}

// replaceOnce replaces a document; before is what it replaces, where known.
func (s *Scope[T]) replaceOnce(ctx context.Context, k *call, entity *T, before *marked) error {
	if entity != nil && s.repo.meta(entity).ETag == "" {
		return &tenantitem.InvalidError{What: "entity", Reason: "it has no etag", Hint: "read it first, or use Create for a new document and Upsert to overwrite without looking"}
	}
	at, err := s.startWrite(ctx, k, entity, replaces)
	if err != nil {
		return err
	}
	if before == nil && k.core.leads() {
		if before, err = s.replaced(ctx, k, &at, entity); err != nil {
			return err
		}
	}
	var raw []byte
	if before != nil {
		raw = before.raw
	}
	hidden, err := s.beforeOne(ctx, entity, replaces, raw)
	if err != nil {
		return err
	}
	based := s.repo.meta(entity).ETag
	mark := k.core.mark()
	if before == nil {
		before = heldMarks(entity, based)
	}
	marks := []string{overwrittenRoot + mark}
	if before != nil {
		marks = before.marksOver(mark, &k.core.doubts)
	}
	body, err := s.encode(entity, marks, hidden)
	if err != nil {
		return err
	}
	etag, err := k.replaceItem(ctx, &at, entity, body, mark, based, before)
	if err != nil {
		return err
	}
	s.written(entity, etag, body)
	return s.afterWrite(ctx, false, entity)
}

// replaced reads what an entity is about to replace, where others have to
// change with it; nil when it is another version.
func (s *Scope[T]) replaced(ctx context.Context, k *call, at *partition, entity *T) (*marked, error) {
	raw, err := k.readItem(ctx, at)
	if statusOf(err) == http.StatusNotFound {
		return nil, nil //nolint:nilnil // the service is going to say so
	}
	if err != nil {
		return nil, err
	}
	before := readMarks(raw)
	if before.ETag != s.repo.meta(entity).ETag {
		return nil, nil //nolint:nilnil // the service is going to say so
	}
	before.raw = raw
	return before, nil
}

// replaceItem replaces a document that still has the etag, and returns the new
// one. before is what it replaces, where that is known.
func (k *call) replaceItem(ctx context.Context, at *partition, entity any, body []byte, mark, etag string, before *marked) (string, error) {
	op := operation{id: k.id, mark: mark, etag: etag, before: before, entity: entity}
	op.writes(k.core, opReplace, body)
	done, err := k.writeOne(ctx, at, op)
	return done.etag, err
}

// Upsert stores the document whatever is there: the named way to overwrite. It
// ignores and renews the entity's ETag, so it can undo another writer's change
// and bring a deleted document back. In a partition that several species share
// it overwrites another one's document too, if that has the same id.
func (s *Scope[T]) Upsert(ctx context.Context, entity *T) error {
	k := call{core: s.repo.core, op: "Upsert", at: &s.at}
	ctx = k.begin(ctx)
	return k.end(s.upsert(ctx, &k, entity))
}

func (s *Scope[T]) upsert(ctx context.Context, k *call, entity *T) error {
	at, err := s.startWrite(ctx, k, entity, puts)
	if err == nil {
		at, err = s.whereTaken(ctx, k, at, entity)
	}
	if err != nil {
		return err
	}
	hidden, err := s.beforeOne(ctx, entity, puts, nil)
	if err != nil {
		return err
	}
	mark := k.core.mark()
	body, err := s.encode(entity, []string{overwrittenRoot + mark}, hidden)
	if err != nil {
		return err
	}
	etag, err := k.upsertItem(ctx, &at, entity, body, mark)
	if err != nil {
		return err
	}
	s.written(entity, etag, body)
	return s.afterWrite(ctx, false, entity)
}

// upsertItem stores a document whatever is there and returns its etag.
func (k *call) upsertItem(ctx context.Context, at *partition, entity any, body []byte, mark string) (etag string, err error) {
	op := operation{id: k.id, mark: mark, entity: entity}
	op.writes(k.core, opUpsert, body)
	done, err := k.writeOne(ctx, at, op)
	return done.etag, err
}

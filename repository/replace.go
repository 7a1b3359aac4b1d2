package repository

import (
	"context"
	"net/http"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Replace writes the whole document if it is still the one that the entity was
// read as; the entity's ETag is required. When it has changed, the error is a
// [*ConflictError] with the document as it is now (and is
// [ErrPreconditionFailed]); when it is gone, [ErrNotFound].
//
//go:noinline
func (s *ScopeOf[P]) Replace(ctx context.Context, entity P) error {
	return conflictOf[P](s.Reader.scope.Replace(ctx, entity))
}

func (s *scope) Replace(ctx context.Context, entity any) error {
	k := engine.Call{Collection: s.c, Op: "Replace", At: &s.at}
	ctx = s.c.WithJoinedRead(k.Begin(ctx))
	return k.End(s.replace(ctx, &k, entity))
}

func (s *scope) replace(ctx context.Context, k *engine.Call, entity any) error {
	err := s.replaceOnce(ctx, k, entity, nil)
	if err == nil {
		return nil
	}
	wrapped := k.Fail(err)
	if engine.StatusOf(err) != http.StatusPreconditionFailed {
		return wrapped
	}
	read := engine.Call{Collection: k.Collection, Op: k.Op, At: k.At, ID: k.ID, Watch: k.Watch}
	current, _, readErr := s.get(ctx, &read)
	if readErr != nil {
		return wrapped // gone or unreadable meanwhile: the conflict stands without it
	}
	return &conflict{current, wrapped}
}

// replaceOnce replaces a document; before is what it replaces, where known. The etag that the write
// requires (based) becomes If-Match of the request in internal/cosmos/item.go.
func (s *scope) replaceOnce(ctx context.Context, k *engine.Call, entity any, before *engine.Marked) error {
	if !isNil(entity) && engine.MetaOf(entity).ETag == "" {
		return &tenantitem.InvalidError{What: "entity", Reason: "it has no etag", Hint: "read it first, or use Create for a new document and Upsert to overwrite without looking"}
	}
	at, err := s.startWrite(ctx, k, entity, engine.Replaces)
	if err != nil {
		return err
	}
	if based := engine.MetaOf(entity).ETag; before == nil && k.Collection.LooksFirst(based, engine.HeldMarks(entity, based)) {
		if err := k.RefuseForeign(ctx, &at, k.ID); err != nil {
			return err
		}
	}
	if before == nil && k.Collection.Leads() {
		if before, err = s.replaced(ctx, k, &at, entity); err != nil {
			return err
		}
	}
	var raw []byte
	if before != nil {
		raw = before.Raw
	}
	hidden, err := s.beforeOne(ctx, entity, engine.Replaces, raw)
	if err != nil {
		return err
	}
	based := engine.MetaOf(entity).ETag
	mark := k.Collection.Mark()
	if before == nil {
		before = engine.HeldMarks(entity, based)
	}
	marks := []string{engine.OverwrittenRoot + mark}
	if before != nil {
		marks = before.MarksOver(mark, &k.Collection.Doubts)
	}
	body, err := s.encode(entity, marks, hidden)
	if err != nil {
		return err
	}
	etag, err := k.ReplaceItem(ctx, &at, entity, body, mark, based, before)
	if err != nil {
		return err
	}
	s.written(entity, etag, body)
	return s.afterWrite(ctx, false, entity)
}

// replaced reads what an entity is about to replace, where others have to
// change with it; nil when it is another version.
func (s *scope) replaced(ctx context.Context, k *engine.Call, at *engine.Partition, entity any) (*engine.Marked, error) {
	raw, err := k.ReadItem(ctx, at)
	if engine.StatusOf(err) == http.StatusNotFound {
		return nil, nil //nolint:nilnil // the service is going to say so
	}
	if err != nil {
		return nil, err
	}
	before := engine.ReadMarks(raw)
	if before.ETag != engine.MetaOf(entity).ETag {
		return nil, nil //nolint:nilnil // the service is going to say so
	}
	before.Raw = raw
	return before, nil
}

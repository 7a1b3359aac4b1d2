package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// Patch changes parts of a document without reading it first, and returns the
// document as it is afterwards; where that does not fit the struct, the error
// holds a [*DecodeError] and the patch was applied. It fails with [ErrNotFound] when there is
// none and with [ErrPreconditionFailed] when a condition does not hold, or when
// the id is that of another species' document in a partition they share. More
// than ten edits, a path that the entity does not have, or a value that does
// not fit are [ErrInvalid].
//
// A patch with a lost answer is recognised in the document by a mark. Where the
// mark is not found, a patch that is bound to an etag by IfMatch is repeated if
// the document still has it; any other is [ErrAmbiguous], because another patch
// may have taken the mark away, or the request may still be under way. Ten
// edits leave no room for the mark.
func (s *Scope[T]) Patch(ctx context.Context, id string, edits Edits) (*T, error) {
	k := call{core: s.repo.core, op: "Patch", at: &s.at, id: id}
	ctx = k.begin(ctx)
	entity, err := s.patch(ctx, &k, edits)
	return entity, k.end(err)
}

func (s *Scope[T]) patch(ctx context.Context, k *call, edits Edits) (*T, error) {
	if err := s.startPoint(ctx, k); err != nil {
		return nil, err
	}
	mark := k.core.mark()
	ops, isMarked, err := k.core.operations(edits, mark)
	if err != nil {
		return nil, err
	}
	if !isMarked {
		mark = ""
	}
	for _, home := range k.core.partitionsOf(s.at) {
		var entity *T
		entity, err = s.patchIn(ctx, k, &home, ops, mark, edits)
		if statusOf(err) == http.StatusPreconditionFailed && k.core.tombstones && k.isDeleted(ctx, &home) {
			err = &refusal{status: http.StatusNotFound}
		}
		if statusOf(err) != http.StatusNotFound {
			return entity, err
		}
	}
	return nil, err
}

// isDeleted reports whether a document is there that is only kept for a while.
func (k *call) isDeleted(ctx context.Context, at *partition) bool {
	raw, err := k.readItem(ctx, at)
	if err != nil {
		return false
	}
	return documents.ReadHeader(raw).DeletedAt != ""
}

// patchIn patches a document in one of its homes and returns what it is
// afterwards.
func (s *Scope[T]) patchIn(ctx context.Context, k *call, at *partition, ops azcosmos.PatchOperations, mark string, edits Edits) (*T, error) {
	op := operation{kind: opPatch, id: k.id, mark: mark, etag: edits.etag, patch: ops}
	op.followedBy(k.core, &edits)
	done, err := k.writeOne(ctx, at, op)
	if err != nil {
		return nil, err
	}
	if entity, err := s.decode(done.body); err == nil && s.repo.meta(entity).ETag == done.etag {
		return entity, nil
	}
	// Its answer was lost, or a transaction hook changed it once more. It is
	// applied whatever comes now.
	look := call{core: k.core, op: k.op, at: at, id: k.id, exempt: true, watch: k.watch}
	raw, err := look.readItem(ctx, at)
	if err == nil {
		var entity *T
		if entity, err = s.decode(raw); err == nil {
			return entity, nil
		}
	}
	return nil, &foreignError{errors.Join(errors.New("the patch was applied, but what it made could not be read"), err)}
}

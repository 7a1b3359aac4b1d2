package repository

import (
	"context"
	"errors"
	"net/http"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/engine"
)

// Patch changes parts of a document without reading it first, and returns the
// document as it is afterwards; where that does not fit the struct, the error
// holds a [*DecodeError] and the patch was applied. It fails with [ErrNotFound] when there is
// none and with [ErrPreconditionFailed] when a condition does not hold, or when
// the id is that of another entity type's document in a partition they share. More
// than ten edits, a path that the entity does not have, or a value that does
// not fit are [ErrInvalid].
//
// A patch with a lost answer is recognised in the document by a mark. Where the
// mark is not found, a patch that is bound to an etag by IfMatch is repeated if
// the document still has it; any other is [ErrAmbiguous], because another patch
// may have taken the mark away, or the request may still be under way. Ten
// edits leave no room for the mark.
//
//go:noinline
func (s *ScopeOf[P]) Patch(ctx context.Context, id string, edits Edits) (P, error) {
	return as[P](s.Reader.scope.Patch(ctx, id, edits))
}

func (s *scope) Patch(ctx context.Context, id string, edits Edits) (any, error) {
	k := engine.Call{Collection: s.c, Op: "Patch", At: &s.at, ID: id}
	ctx = k.Begin(ctx)
	entity, err := s.patch(ctx, &k, edits)
	return entity, k.End(err)
}

func (s *scope) patch(ctx context.Context, k *engine.Call, edits Edits) (any, error) {
	s, err := s.startPoint(ctx, k)
	if err != nil {
		return nil, err
	}
	mark := k.Collection.Mark()
	ops, isMarked, err := k.Collection.Operations(s.at.Tenant, edits.e, mark)
	if err != nil {
		return nil, err
	}
	if !isMarked {
		mark = ""
	}
	for _, partition := range k.Collection.PartitionsOf(s.at) {
		var entity any
		entity, err = s.patchIn(ctx, k, &partition, ops, mark, edits)
		if engine.StatusOf(err) == http.StatusPreconditionFailed && k.Collection.Tombstones && k.IsDeleted(ctx, &partition) {
			err = &engine.Refusal{Status: http.StatusNotFound}
		}
		if engine.StatusOf(err) != http.StatusNotFound {
			return entity, err
		}
	}
	return nil, err
}

// patchIn patches a document in one of its partitions and returns what it is
// afterwards.
func (s *scope) patchIn(ctx context.Context, k *engine.Call, at *engine.Partition, ops cosmos.Patch, mark string, edits Edits) (any, error) {
	op := engine.Operation{Kind: engine.OpPatch, ID: k.ID, Mark: mark, ETag: edits.e.ETag, Patch: ops}
	op.FollowedBy(k.Collection, &edits.e)
	done, err := k.WriteOne(ctx, at, op)
	if err != nil {
		return nil, err
	}
	if entity, err := s.decode(done.Body); err == nil && engine.MetaOf(entity).ETag == done.ETag {
		return entity, nil
	}
	// Its answer was lost, or a transaction hook changed it once more. It is
	// applied whatever comes now.
	look := engine.Call{Collection: k.Collection, Op: k.Op, At: at, ID: k.ID, Exempt: true, Watch: k.Watch}
	raw, err := look.ReadItem(ctx, at)
	if err == nil {
		var entity any
		if entity, err = s.decode(raw); err == nil {
			return entity, nil
		}
	}
	return nil, engine.Foreign(errors.Join(errors.New("the patch was applied, but what it made could not be read"), err))
}

package repository

import (
	"context"
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
// mark is not found, a patch that only sets fields, or that is bound to an etag
// by IfMatch, is repeated; any other is [ErrAmbiguous], because another patch
// may have taken the mark away and an increment must not count twice. Ten edits
// leave no room for the mark.
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
	stamp := k.core.stamp()
	ops, stamped, err := k.core.operations(edits, stamp)
	if err != nil {
		return nil, err
	}
	if !stamped {
		stamp = ""
	}
	for _, home := range k.core.homes(s.at) {
		var entity *T
		entity, err = s.patchIn(ctx, k, &home, ops, stamp, edits)
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

func (s *Scope[T]) patchIn(ctx context.Context, k *call, at *partition, ops azcosmos.PatchOperations, stamp string, edits Edits) (*T, error) {
	var raw []byte
	if k.core.hooks.Beside != nil {
		op := batchOp{verb: "Patch", id: k.id, stamp: stamp, etag: edits.etag}
		if op.followedBy(k.core, &edits); op.concerns() {
			op.patches(ops)
			return s.patchBeside(ctx, k, at, op)
		}
	}
	err := k.write(ctx, func(ctx context.Context) (azcosmos.Response, error) {
		options := writeOptions(ctx, edits.etag)
		options.EnableContentResponseOnWrite = true
		resp, err := k.core.container.PatchItem(ctx, at.key, k.id, ops, options)
		raw = resp.Value
		return resp.Response, err
	}, func(ctx context.Context) (outcome, error) {
		o := unknown
		if stamp != "" {
			var found string
			var err error
			if o, err = k.lookFor(ctx, at, stamp, basis{etag: edits.etag}, &found); err != nil {
				return unknown, err
			}
		}
		if o == unknown && edits.repeatable() {
			o = notApplied
		}
		if o != applied {
			return o, nil
		}
		var err error
		raw, err = k.readItem(ctx, at)
		return applied, err
	})
	if err != nil {
		return nil, err
	}
	after, err := s.decode(raw)
	if isUndecodable(err) {
		err = &storedButError{err}
	}
	return after, err
}

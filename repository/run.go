package repository

import (
	"context"
	"iter"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Query returns the documents that q looks for. Nothing is sent before the
// sequence is ranged over; pages are fetched as the loop goes on. The first
// error is yielded once, with a nil document, and ends the sequence; but a
// document that does not fit its struct is a [*DecodeError], after which the
// sequence goes on. Ranging again asks again.
//
// In one logical partition the documents come without a promised order unless
// q has one. A query for nothing but an id there is a point read, which is the
// cheaper request.
func (r *Reader[T]) Query(ctx context.Context, q Query) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		k := engine.Call{Collection: r.repo.core(), Op: "Query", At: &r.at}
		ctx := k.Begin(ctx)
		err := k.End(r.each(ctx, &k, q.inner(), func(entity *T, err error) bool { return yield(entity, k.Fail(err)) }))
		if err != nil {
			yield(nil, err)
		}
	}
}

// First returns the first document that q looks for, and [ErrNotFound] when
// there is none. When that document does not fit its struct, the error is a
// [*DecodeError].
func (r *Reader[T]) First(ctx context.Context, q Query) (*T, error) {
	k := engine.Call{Collection: r.repo.core(), Op: "First", At: &r.at}
	ctx = k.Begin(ctx)
	var first *T
	var unread error
	err := r.each(ctx, &k, q.inner().Limit(1), func(entity *T, err error) bool {
		first, unread = entity, err
		return false
	})
	if err == nil {
		err = unread
	}
	if err == nil && first == nil {
		err = ErrNotFound
	}
	return first, k.End(err)
}

// each calls yield with the documents, and the errors of those that can't be
// read, until it returns false.
func (r *Reader[T]) each(ctx context.Context, k *engine.Call, q engine.Query, yield func(*T, error) bool) error {
	if err := k.StartQuery(ctx); err != nil {
		return err
	}
	if id, ok := q.OnlyID(&r.at); ok {
		return r.eachByID(ctx, k, id, yield)
	}
	if k.SeveralPartitions() {
		return r.eachAcross(ctx, k, q, yield)
	}
	st, err := k.Collection.Compile(&r.at, q, engine.SelectAll)
	if err != nil {
		return err
	}
	return engine.EachPage(ctx, k, &r.at, st, q.Bound(), func(rows []row[T]) (bool, error) {
		if err := r.checkRows(rows); err != nil {
			return false, err
		}
		for i := range rows {
			if !yield(rows[i].value, rows[i].err) {
				return false, nil
			}
		}
		return true, nil
	})
}

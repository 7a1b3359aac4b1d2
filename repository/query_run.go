package repository

import (
	"context"
	"iter"

	"github.com/cosmosgrove/grove/internal/engine"
)

// Query is [ScopeOf.Query].
//
//go:noinline
func (r *reader[P]) Query(ctx context.Context, q Query) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		r.scope.Query(ctx, q, func(entity any, err error) bool { return yield(as[P](entity, err)) })
	}
}

// Query returns the documents that q looks for. Nothing is sent before the
// sequence is ranged over; pages are fetched as the loop goes on. The first
// error is yielded once, with a nil document, and ends the sequence; but a
// document that does not fit its struct is a [*DecodeError], after which the
// sequence goes on. Ranging again asks again.
//
// In one logical partition the documents come without a promised order unless
// q has one. A query for nothing but an id there is a point read, which is the
// cheaper request.
//
//go:noinline
func (s *ScopeOf[P]) Query(ctx context.Context, q Query) iter.Seq2[P, error] {
	return s.Reader.Query(ctx, q)
}

func (s *scope) Query(ctx context.Context, q Query, yield func(any, error) bool) {
	k := engine.Call{Collection: s.c, Op: "Query", At: &s.at}
	ctx = k.Begin(ctx)
	err := k.End(s.each(ctx, &k, q.inner(), func(entity any, err error) bool { return yield(entity, k.Fail(err)) }))
	if err != nil {
		yield(nil, err)
	}
}

// First is [ScopeOf.First].
//
//go:noinline
func (r *reader[P]) First(ctx context.Context, q Query) (P, error) {
	return as[P](r.scope.First(ctx, q))
}

// First returns the first document that q looks for, and [ErrNotFound] when
// there is none. When that document does not fit its struct, the error is a
// [*DecodeError].
//
//go:noinline
func (s *ScopeOf[P]) First(ctx context.Context, q Query) (P, error) { return s.Reader.First(ctx, q) }

func (s *scope) First(ctx context.Context, q Query) (any, error) {
	k := engine.Call{Collection: s.c, Op: "First", At: &s.at}
	ctx = k.Begin(ctx)
	var first any
	var unread error
	err := s.each(ctx, &k, q.inner().Limit(1), func(entity any, err error) bool {
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
func (s *scope) each(ctx context.Context, k *engine.Call, q engine.Query, yield func(any, error) bool) error {
	if err := k.StartQuery(ctx); err != nil {
		return err
	}
	if id, ok := q.OnlyID(&s.at); ok {
		return s.eachByID(ctx, k, id, yield)
	}
	if k.SeveralPartitions() {
		return s.eachAcross(ctx, k, q, yield)
	}
	st, err := k.Collection.Compile(&s.at, q, engine.SelectAll)
	if err != nil {
		return err
	}
	return engine.EachPage(ctx, k, &s.at, st, q.Bound(), func(rows []engine.Row) (bool, error) {
		if err := s.checkRows(rows); err != nil {
			return false, err
		}
		for i := range rows {
			if !yield(rows[i].Value, rows[i].Err) {
				return false, nil
			}
		}
		return true, nil
	})
}

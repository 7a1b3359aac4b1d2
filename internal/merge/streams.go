package merge

import (
	"container/heap"
	"context"

	"golang.org/x/sync/errgroup"
)

// Stream is a sorted run of rows that comes page by page. It is used by one
// goroutine at a time.
type Stream[R any] interface {
	// Next returns the next rows. No rows at all, and no parts, is the end.
	// When the stream can't go on because its partition was divided, it
	// returns the streams that take over from it, and is not asked again.
	Next(ctx context.Context) (rows []R, parts []Stream[R], err error)
}

// Parallel is how many streams are asked at once where all have to answer
// before anything can be said.
const Parallel = 8

// Streams calls yield with the rows of all streams in order, until it returns
// false. Of each stream it holds one page. Rows that compare as equal come in
// the order of their streams.
func Streams[R any](ctx context.Context, streams []Stream[R], compare func(a, b *R) int, yield func(*R) bool) error {
	heads, err := prime(ctx, streams)
	if err != nil {
		return err
	}
	q := &queue[R]{heads: heads, compare: compare}
	heap.Init(q)
	for len(q.heads) > 0 {
		h := q.heads[0]
		if !yield(&h.rows[0]) {
			return nil
		}
		h.rows = h.rows[1:]
		if len(h.rows) > 0 {
			heap.Fix(q, 0)
			continue
		}
		heap.Pop(q)
		more, err := advance(ctx, h.stream, h.rank)
		if err != nil {
			return err
		}
		for _, h := range more {
			heap.Push(q, h)
		}
	}
	return nil
}

// head is a stream with rows at hand.
type head[R any] struct {
	stream Stream[R]
	rows   []R
	rank   int
}

// prime gets the first rows of every stream.
func prime[R any](ctx context.Context, streams []Stream[R]) ([]*head[R], error) {
	found := make([][]*head[R], len(streams))
	group, under := errgroup.WithContext(ctx)
	group.SetLimit(Parallel)
	for i, s := range streams {
		group.Go(func() error {
			var err error
			found[i], err = advance(under, s, i)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var heads []*head[R]
	for _, f := range found {
		heads = append(heads, f...)
	}
	return heads, nil
}

// advance gets a stream's next rows, or those of the streams that took over
// from it; nothing when they have ended.
func advance[R any](ctx context.Context, s Stream[R], rank int) ([]*head[R], error) {
	rows, parts, err := s.Next(ctx)
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		return []*head[R]{{stream: s, rows: rows, rank: rank}}, nil
	}
	var out []*head[R]
	for _, part := range parts {
		more, err := advance(ctx, part, rank)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

type queue[R any] struct {
	heads   []*head[R]
	compare func(a, b *R) int
}

func (q *queue[R]) Len() int { return len(q.heads) }

func (q *queue[R]) Less(i, j int) bool {
	if c := q.compare(&q.heads[i].rows[0], &q.heads[j].rows[0]); c != 0 {
		return c < 0
	}
	return q.heads[i].rank < q.heads[j].rank
}

func (q *queue[R]) Swap(i, j int) { q.heads[i], q.heads[j] = q.heads[j], q.heads[i] }

func (q *queue[R]) Push(x any) { q.heads = append(q.heads, x.(*head[R])) }

func (q *queue[R]) Pop() any {
	last := len(q.heads) - 1
	h := q.heads[last]
	q.heads[last] = nil
	q.heads = q.heads[:last]
	return h
}

package engine

import (
	"context"
	"strings"

	"github.com/cosmosgrove/grove/internal/merge"
)

// mergePage is how many rows a merge asks of each partition at once. It is
// small, since a page of every partition is held in memory.
const mergePage = 100

// selectSorted is the projection of a document beside the values that it is
// sorted by; see merge.Row.
func (q Query) selectSorted(w *SQLWriter, expression string) (string, merge.Order, error) {
	items := make([]string, len(q.order))
	order := make(merge.Order, len(q.order))
	for i, o := range q.order {
		field, err := w.sortField(o.field)
		if err != nil {
			return "", nil, err
		}
		items[i], order[i] = `{"v": `+field+`}`, o.desc
	}
	return sortedPrefix + strings.Join(items, ", ") + "] AS o, " + expression + " AS d FROM " + RootAlias, order, nil
}

// sortedPrefix is how the projection of a sorted query begins.
const sortedPrefix = "SELECT " + RootAlias + `["_rid"] AS r, [`

// PlanSorted compiles an ordered query.
func (k *Call) PlanSorted(q Query, expression string) (*plan, merge.Order, error) {
	projection, order, err := q.selectSorted(&SQLWriter{model: k.Collection.model, layout: k.Collection.layout}, expression)
	if err != nil {
		return nil, nil, err
	}
	p, err := k.PlanFor(q, projection)
	return p, order, err
}

func readSorted[D any](ctx context.Context, k *Call, q Query, expression string, check func(*D) error, yield func(*D) bool) error {
	p, order, err := k.PlanSorted(q, expression)
	if err != nil {
		return err
	}
	m := NewMerger(k, p, q.limit, RowOrder[D](order), RowCheck(check))
	left := q.limit
	return m.Run(ctx, p.ranges(k.Collection), nil, func(row *merge.Row[D]) bool {
		left--
		return yield(&row.Doc) && left != 0
	})
}

// RowOrder compares rows by an order.
func RowOrder[D any](order merge.Order) func(a, b *merge.Row[D]) int {
	return func(a, b *merge.Row[D]) int { return order.Compare(a.SortKey, b.SortKey) }
}

// RowCheck checks the documents of rows; nil checks nothing.
func RowCheck[D any](check func(*D) error) func(*merge.Row[D]) error {
	if check == nil {
		return func(*merge.Row[D]) error { return nil }
	}
	return func(row *merge.Row[D]) error { return check(&row.Doc) }
}

// merger reads the sorted rows of all parts of a scope as one.
type merger[R any] struct {
	k       *Call
	plan    *plan
	size    int
	compare func(a, b *R) int
	check   func(*R) error
	Runs    []*sortedRun[R] // what Run began with
}

// NewMerger reads pages of mergePage rows, or fewer where no more are wanted.
func NewMerger[R any](k *Call, p *plan, want int, compare func(a, b *R) int, check func(*R) error) *merger[R] {
	size := mergePage
	if want > 0 {
		size = min(size, want)
	}
	return &merger[R]{k: k, plan: p, size: size, compare: compare, check: check}
}

// Run calls yield with the rows behind one, or all of them, until it
// returns false. The merge itself, with ties and how much is read ahead, is
// Streams in internal/merge/streams.go.
func (m *merger[R]) Run(ctx context.Context, ranges []keyRange, after *R, yield func(*R) bool) error {
	pieces, err := m.k.pieces(ctx, m.plan, ranges, "")
	if err != nil {
		return err
	}
	m.Runs = m.runsOf(pieces, after, 0)
	return merge.Streams(ctx, streamsOf(m.Runs), m.compare, yield)
}

func (m *merger[R]) runsOf(pieces []piece, after *R, moves int) []*sortedRun[R] {
	runs := make([]*sortedRun[R], len(pieces))
	for i, at := range pieces {
		runs[i] = &sortedRun[R]{merger: m, piece: at, last: after, skip: after != nil, moves: moves}
	}
	return runs
}

func streamsOf[R any](runs []*sortedRun[R]) []merge.Stream[R] {
	out := make([]merge.Stream[R], len(runs))
	for i, r := range runs {
		out[i] = r
	}
	return out
}

// sortedRun is the sorted rows of one part of a scope.
type sortedRun[R any] struct {
	*merger[R]
	piece
	begun bool
	// page holds the rows that were read with the token From, next is the
	// token behind them.
	page []R
	next string
	// last is the last row that was given. While skip is set, rows up to it
	// are left out, because this run goes on from where another one was.
	last *R
	skip bool
	// parts took over when the run's partition was divided.
	parts []*sortedRun[R]
	moves int
}

// Next reads the next page; see merge.Stream.
func (r *sortedRun[R]) Next(ctx context.Context) ([]R, []merge.Stream[R], error) {
	for !r.begun || r.next != "" {
		from := r.From
		if r.begun {
			from = r.next
		}
		rows, next, err := FetchPage[R](ctx, r.k, &r.at, r.plan.sts[r.Partition], from, r.size)
		if err != nil {
			parts, err := r.divide(ctx, from, err)
			return nil, parts, err
		}
		r.begun, r.From, r.next, r.moves = true, from, next, 0
		if r.page = r.fresh(rows); len(r.page) == 0 {
			continue
		}
		r.last, r.skip = &r.page[len(r.page)-1], false
		for i := range r.page {
			if err := r.check(&r.page[i]); err != nil {
				return nil, nil, err
			}
		}
		return r.page, nil, nil
	}
	r.page = nil
	return nil, nil, nil
}

// fresh cuts off the rows that were given before.
func (r *sortedRun[R]) fresh(rows []R) []R {
	for r.skip && len(rows) > 0 && r.compare(&rows[0], r.last) <= 0 {
		rows = rows[1:]
	}
	return rows
}

// divide makes the runs that go on where this one stopped.
func (r *sortedRun[R]) divide(ctx context.Context, from string, cause error) ([]merge.Stream[R], error) {
	at := r.piece
	at.From = from
	pieces, err := r.k.follow(ctx, r.plan, at, r.moves, cause)
	if err != nil {
		return nil, err
	}
	r.parts = r.runsOf(pieces, r.last, r.moves+1)
	return streamsOf(r.parts), nil
}

// rest is what remains of the run when rows up to one were given.
func (r *sortedRun[R]) rest(given *R) []keyRange {
	switch {
	case r.parts != nil:
		return RestOf(r.parts, given)
	case len(r.page) == 0:
		return nil
	case r.compare(&r.page[len(r.page)-1], given) > 0:
		return []keyRange{r.keyRange} // the page is read again, for the rows behind
	case r.next == "":
		return nil
	}
	s := r.keyRange
	s.From = r.next
	return []keyRange{s}
}

// RestOf returns what the runs have not given yet; given is the last row that was.
func RestOf[R any](runs []*sortedRun[R], given *R) []keyRange {
	var out []keyRange
	for _, r := range runs {
		out = append(out, r.rest(given)...)
	}
	return out
}

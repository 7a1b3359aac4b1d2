package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/internal/merge"
)

func (r *Reader[T]) pageAcross(ctx context.Context, k *engine.Call, q engine.Query, from string, size int) (*pageOf[T], error) {
	fill := r.pageInTurn
	if q.IsSorted() {
		fill = r.pageSorted
	}
	page := &pageOf[T]{Page: Page[T]{Items: make([]*T, 0, size)}}
	at, err := fill(ctx, k, q, from, size, page)
	if err != nil || len(at.Ranges) == 0 {
		return page, err
	}
	if q.Bound() > 0 {
		if at.Left -= page.read; at.Left <= 0 {
			return page, nil
		}
	}
	page.Cursor, err = at.Encode()
	return page, err
}

func (r *Reader[T]) pageInTurn(ctx context.Context, k *engine.Call, q engine.Query, from string, size int, page *pageOf[T]) (engine.Position, error) {
	p, err := k.PlanFor(q, engine.SelectAll)
	if err != nil {
		return engine.Position{}, err
	}
	at, err := p.Begin(k.Collection, q, from)
	if err != nil {
		return engine.Position{}, err
	}
	want := at.Wanted(size)
	// Each request asks for no more than is missing, so that there is never a
	// surplus to drop.
	missing := func() int { return want - page.read }
	at.Ranges, err = engine.InTurn(ctx, k, p, at.Ranges, missing, func(rows []row[T]) (bool, error) {
		if err := r.checkRows(rows); err != nil {
			return false, err
		}
		for i := range rows {
			page.take(&rows[i])
		}
		return missing() > 0, nil
	})
	return at, err
}

func (r *Reader[T]) pageSorted(ctx context.Context, k *engine.Call, q engine.Query, from string, size int, page *pageOf[T]) (engine.Position, error) {
	p, order, err := k.PlanSorted(q, engine.RootAlias)
	if err != nil {
		return engine.Position{}, err
	}
	at, err := p.Begin(k.Collection, q, from)
	if err != nil {
		return engine.Position{}, err
	}
	if at.After != nil && len(at.After.Sort) != len(order) {
		return engine.Position{}, engine.ErrCursorShape
	}
	want := at.Wanted(size)
	m := engine.NewMerger(k, p, want, engine.RowOrder[row[T]](order), engine.RowCheck(r.checkRow))
	var after *merge.Row[row[T]]
	if at.After != nil {
		after = &merge.Row[row[T]]{Place: *at.After}
	}
	err = m.Run(ctx, at.Ranges, after, func(row *merge.Row[row[T]]) bool {
		after = row
		page.take(&row.Doc)
		return page.read < want
	})
	if err != nil {
		return engine.Position{}, err
	}
	at.Ranges = nil
	if page.read >= want {
		at.Ranges, at.After = engine.RestOf(m.Runs, after), &after.Place
	}
	return at, nil
}

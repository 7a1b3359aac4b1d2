package repository

import (
	"context"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/internal/merge"
)

func (s *scope) pageAcross(ctx context.Context, k *engine.Call, q engine.Query, from string, size int) (*page, error) {
	fill := s.pageInTurn
	if q.IsSorted() {
		fill = s.pageSorted
	}
	out := newPage(size)
	at, err := fill(ctx, k, q, from, size, out)
	if err != nil || len(at.Ranges) == 0 {
		return out, err
	}
	if q.Bound() > 0 {
		if at.Left -= out.read; at.Left <= 0 {
			return out, nil
		}
	}
	out.Cursor, err = at.Encode()
	return out, err
}

func (s *scope) pageInTurn(ctx context.Context, k *engine.Call, q engine.Query, from string, size int, out *page) (engine.Position, error) {
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
	missing := func() int { return want - out.read }
	at.Ranges, err = engine.InTurn(ctx, k, p, at.Ranges, missing, func(rows []engine.Row) (bool, error) {
		if err := s.checkRows(rows); err != nil {
			return false, err
		}
		for i := range rows {
			out.take(&rows[i])
		}
		return missing() > 0, nil
	})
	return at, err
}

func (s *scope) pageSorted(ctx context.Context, k *engine.Call, q engine.Query, from string, size int, out *page) (engine.Position, error) {
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
	m := engine.NewMerger(k, p, want, engine.RowOrder[engine.Row](order), engine.RowCheck(s.checkRow))
	var after *merge.Row[engine.Row]
	if at.After != nil {
		after = &merge.Row[engine.Row]{SortKey: *at.After}
	}
	err = m.Run(ctx, at.Ranges, after, func(row *merge.Row[engine.Row]) bool {
		after = row
		out.take(&row.Doc)
		return out.read < want
	})
	if err != nil {
		return engine.Position{}, err
	}
	at.Ranges = nil
	if out.read >= want {
		at.Ranges, at.After = engine.RestOf(m.Runs, after), &after.SortKey
	}
	return at, nil
}

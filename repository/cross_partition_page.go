package repository

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// position is where a page over several partitions ended. It names parts of
// the key space, not partitions, so that it stays good when those change.
type position struct {
	// Spans is what is left to read.
	Spans []span `json:"s"`
	// After is the last document that was given, of an ordered query: those
	// up to it are left out, wherever they are met.
	After *merge.Place `json:"p,omitempty"`
	// Left is how many documents the query's limit leaves; 0 is no limit.
	Left int `json:"l,omitempty"`
}

// A position holds a token of the service for every partition that was begun.
// With more than maxTokenBytes of them they are left out: such partitions are
// then read again up to the last document given, which costs more.
const (
	maxTokenBytes    = 12 << 10
	maxPositionBytes = maxCursorBytes/4*3 - 1 - cursorMAC
)

func (p position) encode() (string, error) {
	tokens := 0
	for _, s := range p.Spans {
		tokens += len(s.From)
	}
	if p.After != nil && tokens > maxTokenBytes {
		p.Spans = slices.Clone(p.Spans)
		for i := range p.Spans {
			p.Spans[i].From = ""
		}
	}
	p.Spans = join(p.Spans)
	text, err := codec.Encode(p)
	if err != nil {
		return "", err
	}
	if len(text) > maxPositionBytes {
		return "", &unsupportedError{clause: "Page with ORDER BY", reason: "a document is sorted by more than a cursor can hold", hint: "sort by a shorter field, or use Query"}
	}
	return string(text), nil
}

func decodePosition(text string, homes int) (position, error) {
	var p position
	if err := codec.Decode([]byte(text), &p); err != nil {
		return p, errCursorShape
	}
	for _, s := range p.Spans {
		if s.Home < 0 || s.Home >= homes {
			return p, errCursorShape
		}
	}
	return p, nil
}

// errCursorShape is for a cursor that was made before the species got, or
// lost, an older name.
var errCursorShape = &tenantitem.InvalidError{What: "cursor", Reason: "it was made for another layout of the species", Hint: "start again without a cursor"}

func (r *Reader[T]) pageAcross(ctx context.Context, k *call, q Query, from string, size int) (*pageOf[T], error) {
	fill := r.pageInTurn
	if len(q.order) > 0 {
		fill = r.pageSorted
	}
	page := &pageOf[T]{Page: Page[T]{Items: make([]*T, 0, size)}}
	at, err := fill(ctx, k, q, from, size, page)
	if err != nil || len(at.Spans) == 0 {
		return page, err
	}
	if q.limit > 0 {
		if at.Left -= page.read; at.Left <= 0 {
			return page, nil
		}
	}
	page.Cursor, err = at.encode()
	return page, err
}

// begin is where a page starts.
func (p *plan) begin(c *core, q Query, from string) (position, error) {
	if from == "" {
		return position{Spans: p.spans(c), Left: q.limit}, nil
	}
	return decodePosition(from, len(p.homes))
}

// wanted is how many documents a page may hold.
func (p position) wanted(size int) int {
	if p.Left > 0 {
		return min(size, p.Left)
	}
	return size
}

func (r *Reader[T]) pageInTurn(ctx context.Context, k *call, q Query, from string, size int, page *pageOf[T]) (position, error) {
	p, err := k.planFor(q, selectAll)
	if err != nil {
		return position{}, err
	}
	at, err := p.begin(k.core, q, from)
	if err != nil {
		return position{}, err
	}
	want := at.wanted(size)
	// Each request asks for no more than is missing, so that there is never a
	// surplus to drop.
	missing := func() int { return want - page.read }
	at.Spans, err = inTurn(ctx, k, p, at.Spans, missing, func(rows []row[T]) (bool, error) {
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

func (r *Reader[T]) pageSorted(ctx context.Context, k *call, q Query, from string, size int, page *pageOf[T]) (position, error) {
	p, order, err := k.planSorted(q, rootAlias)
	if err != nil {
		return position{}, err
	}
	at, err := p.begin(k.core, q, from)
	if err != nil {
		return position{}, err
	}
	if at.After != nil && len(at.After.Sort) != len(order) {
		return position{}, errCursorShape
	}
	want := at.wanted(size)
	m := newMerger(k, p, want, rowOrder[row[T]](order), rowCheck(r.checkRow))
	var after *merge.Row[row[T]]
	if at.After != nil {
		after = &merge.Row[row[T]]{Place: *at.After}
	}
	err = m.run(ctx, at.Spans, after, func(row *merge.Row[row[T]]) bool {
		after = row
		page.take(&row.Doc)
		return page.read < want
	})
	if err != nil {
		return position{}, err
	}
	at.Spans = nil
	if page.read >= want {
		at.Spans, at.After = restOf(m.runs, after), &after.Place
	}
	return at, nil
}

// unsupportedError names the clause that can't be served.
type unsupportedError struct{ clause, reason, hint string }

// Error names the clause, the reason and the way out.
func (e *unsupportedError) Error() string {
	return fmt.Sprintf("%s: %s: %s (%s)", ErrUnsupported, e.clause, e.reason, e.hint)
}

// Unwrap returns [ErrUnsupported].
func (e *unsupportedError) Unwrap() error { return ErrUnsupported }

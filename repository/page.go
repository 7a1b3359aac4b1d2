package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// PageOptions say how much of a result to read and where to go on.
type PageOptions struct {
	// Size is the number of documents on a page, 1 to 1,000. Defaults to 100.
	Size int
	// Cursor is the previous page's Cursor; empty for the first page.
	Cursor string
}

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// Page is a part of a result. A page is shorter than its size only at the end,
// or by documents that do not fit their struct.
//
// It has these fields:
//
//	Items []*T: Items are the documents.
//	Cursor string: Cursor asks for the next page; empty at the end. It is text that is safe in a URL, good for the same scope and query only, and not a secret.
type Page[T any] = engine.Page[*T]

// Page is [ScopeOf.Page].
//
//go:noinline
func (r *reader[P]) Page(ctx context.Context, q Query, opts PageOptions) (*engine.Page[P], error) {
	found, err := r.scope.Page(ctx, q, opts)
	if found == nil {
		return nil, err
	}
	return &engine.Page[P]{Items: allAs[P](found.items), Cursor: found.Cursor}, err
}

// Page reads one page of a result. No document is dropped or repeated between
// pages; documents written meanwhile appear where the order puts them. A
// cursor of another tenant, query or signing key is [ErrInvalid].
//
// Documents that do not fit their struct are left out of Items; the page is
// then returned together with an error that holds a [*DecodeError] for each.
//
//go:noinline
func (s *ScopeOf[P]) Page(ctx context.Context, q Query, opts PageOptions) (*engine.Page[P], error) {
	return s.Reader.Page(ctx, q, opts)
}

func (s *scope) Page(ctx context.Context, q Query, opts PageOptions) (*page, error) {
	k := engine.Call{Collection: s.c, Op: "Page", At: &s.at}
	ctx = k.Begin(ctx)
	found, err := s.page(ctx, &k, q.inner(), opts)
	return found, k.End(err)
}

func (s *scope) page(ctx context.Context, k *engine.Call, q engine.Query, opts PageOptions) (*page, error) {
	if err := k.StartQuery(ctx); err != nil {
		return nil, err
	}
	if opts.Size == 0 {
		opts.Size = defaultPageSize
	}
	if opts.Size < 0 || opts.Size > maxPageSize {
		return nil, &tenantitem.InvalidError{What: "page size", Reason: fmt.Sprintf("it is %d", opts.Size), Hint: "use 1 to 1000"}
	}
	st, err := k.Collection.Compile(&s.at, q, engine.SelectAll)
	if err != nil {
		return nil, err
	}
	mark, err := st.Fingerprint()
	if err != nil {
		return nil, err
	}
	boundTo := k.Collection.EntityType() + "\x00" + engine.KeyText(s.at.Values) + "\x00" + mark
	from := ""
	if opts.Cursor != "" {
		if from, err = k.Collection.Cursors.Open(boundTo, opts.Cursor); err != nil {
			return nil, err
		}
	}
	var out *page
	if k.SeveralPartitions() {
		out, err = s.pageAcross(ctx, k, q, from, opts.Size)
	} else {
		out, err = s.fill(ctx, k, st, from, opts.Size)
	}
	if err != nil {
		return nil, err
	}
	if out.Cursor != "" {
		out.Cursor = k.Collection.Cursors.Seal(boundTo, out.Cursor)
	}
	return out, errors.Join(out.unread...)
}

// page is a page on its way.
type page struct {
	items  []any
	Cursor string
	read   int     // documents, those that can't be read included
	unread []error // of those
}

func newPage(size int) *page { return &page{items: make([]any, 0, size)} }

func (p *page) take(row *engine.Row) {
	p.read++
	if row.Err != nil {
		p.unread = append(p.unread, row.Err)
		return
	}
	p.items = append(p.items, row.Value)
}

// fill reads until the page is full. Each request asks for no more than is
// still missing, so that there is never a surplus to drop.
func (s *scope) fill(ctx context.Context, k *engine.Call, st engine.Statement, from string, size int) (*page, error) {
	out := newPage(size)
	for {
		rows, next, err := engine.FetchPage[engine.Row](ctx, k, &s.at, st, from, size-out.read)
		if err != nil {
			return nil, err
		}
		if err := s.checkRows(rows); err != nil {
			return nil, err
		}
		for i := range rows {
			out.take(&rows[i])
		}
		out.Cursor = next
		if next == "" || out.read >= size {
			return out, nil
		}
		from = next
	}
}

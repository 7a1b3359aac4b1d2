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
type Page[T any] struct {
	Items []*T
	// Cursor asks for the next page; empty at the end. It is text that is safe
	// in a URL, good for the same scope and query only, and not a secret.
	Cursor string
}

// Page reads one page of a result. No document is dropped or repeated between
// pages; documents written meanwhile appear where the order puts them. A
// cursor of another tenant, query or signing key is [ErrInvalid].
//
// Documents that do not fit their struct are left out of Items; the page is
// then returned together with an error that holds a [*DecodeError] for each.
func (r *Reader[T]) Page(ctx context.Context, q Query, opts PageOptions) (*Page[T], error) {
	k := engine.Call{Collection: r.repo.core(), Op: "Page", At: &r.at}
	ctx = k.Begin(ctx)
	page, err := r.page(ctx, &k, q.inner(), opts)
	return page, k.End(err)
}

func (r *Reader[T]) page(ctx context.Context, k *engine.Call, q engine.Query, opts PageOptions) (*Page[T], error) {
	if err := k.StartQuery(ctx); err != nil {
		return nil, err
	}
	if opts.Size == 0 {
		opts.Size = defaultPageSize
	}
	if opts.Size < 0 || opts.Size > maxPageSize {
		return nil, &tenantitem.InvalidError{What: "page size", Reason: fmt.Sprintf("it is %d", opts.Size), Hint: "use 1 to 1000"}
	}
	st, err := k.Collection.Compile(&r.at, q, engine.SelectAll)
	if err != nil {
		return nil, err
	}
	mark, err := st.Fingerprint()
	if err != nil {
		return nil, err
	}
	boundTo := k.Collection.EntityType() + "\x00" + engine.KeyText(r.at.Values) + "\x00" + mark
	from := ""
	if opts.Cursor != "" {
		if from, err = k.Collection.Cursors.Open(boundTo, opts.Cursor); err != nil {
			return nil, err
		}
	}
	var out *pageOf[T]
	if k.SeveralPartitions() {
		out, err = r.pageAcross(ctx, k, q, from, opts.Size)
	} else {
		out, err = r.fill(ctx, k, st, from, opts.Size)
	}
	if err != nil {
		return nil, err
	}
	if out.Cursor != "" {
		out.Cursor = k.Collection.Cursors.Seal(boundTo, out.Cursor)
	}
	return &out.Page, errors.Join(out.unread...)
}

// pageOf is a page on its way.
type pageOf[T any] struct {
	Page[T]
	read   int     // documents, those that can't be read included
	unread []error // of those
}

func (p *pageOf[T]) take(row *row[T]) {
	p.read++
	if row.err != nil {
		p.unread = append(p.unread, row.err)
		return
	}
	p.Items = append(p.Items, row.value)
}

// fill reads until the page is full. Each request asks for no more than is
// still missing, so that there is never a surplus to drop.
func (r *Reader[T]) fill(ctx context.Context, k *engine.Call, st engine.Statement, from string, size int) (*pageOf[T], error) {
	page := &pageOf[T]{Page: Page[T]{Items: make([]*T, 0, size)}}
	for {
		rows, next, err := engine.FetchPage[row[T]](ctx, k, &r.at, st, from, size-page.read)
		if err != nil {
			return nil, err
		}
		if err := r.checkRows(rows); err != nil {
			return nil, err
		}
		for i := range rows {
			page.take(&rows[i])
		}
		page.Cursor = next
		if next == "" || page.read >= size {
			return page, nil
		}
		from = next
	}
}

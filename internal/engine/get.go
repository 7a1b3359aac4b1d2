package engine

import (
	"context"
	"net/http"

	"github.com/cosmosgrove/grove/internal/cosmos"
	documents "github.com/cosmosgrove/grove/internal/document"
)

// ReadItem reads the call's document by its id.
func (k *Call) ReadItem(ctx context.Context, at *Partition) ([]byte, error) {
	raw, _, err := k.readItem(ctx, at)
	return raw, err
}

// readItem is ReadItem with the answer's header.
func (k *Call) readItem(ctx context.Context, at *Partition) ([]byte, http.Header, error) {
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	var got struct {
		raw    []byte
		header http.Header
	}
	x := exchange{exempt: k.Exempt, at: at}
	err = k.read(ctx, &x, func(ctx context.Context) (cosmos.Answer, error) {
		item, answer, err := cosmos.ReadItem(ctx, k.Collection.Container, at.Key, k.Collection.layout.StoredID(k.ID), k.options(ctx, token))
		got.raw, got.header = item.Body, answer.Header
		return answer, err
	})
	if err == nil {
		got.raw, err = k.Collection.canonical(got.raw)
	}
	return got.raw, got.header, err
}

// canonical returns a stored document in Grove's form.
func (c *Collection) canonical(raw []byte) ([]byte, error) {
	if c.layout == nil {
		return raw, nil
	}
	doc, err := c.layout.Canonical(raw)
	if err != nil {
		return doc, Undecodable(doc, err)
	}
	return doc, nil
}

// IsDeleted reports whether a document is there that is only kept for a while.
func (k *Call) IsDeleted(ctx context.Context, at *Partition) bool {
	raw, err := k.ReadItem(ctx, at)
	if err != nil {
		return false
	}
	return documents.ReadHeader(raw).DeletedAt != ""
}

package engine

import (
	"context"

	"github.com/cosmosgrove/grove/internal/cosmos"
	documents "github.com/cosmosgrove/grove/internal/document"
)

// ReadItem reads the call's document by its id.
func (k *Call) ReadItem(ctx context.Context, at *Partition) ([]byte, error) {
	var raw []byte
	token, err := k.sessionHeader(ctx, at)
	if err != nil {
		return nil, err
	}
	x := exchange{exempt: k.Exempt, at: at}
	err = k.read(ctx, &x, func(ctx context.Context) (cosmos.Answer, error) {
		item, answer, err := cosmos.ReadItem(ctx, k.Collection.Container, at.Key, k.Collection.layout.StoredID(k.ID), k.options(ctx, token))
		raw = item.Body
		return answer, err
	})
	if err == nil {
		raw, err = k.Collection.canonical(raw)
	}
	return raw, err
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

package engine

import "context"

// siblings are the documents that one transaction writes or deletes, for hooks
// that look for what a document refers to: it need not be stored yet, and what
// is stored may go.
type siblings []sibling

type sibling struct {
	core   *Collection
	id     string
	key    []any // as in a Document
	entity any   // nil in a delete
}

type siblingsKey struct{}

// withSiblings lets the hooks of a transaction see its documents.
func withSiblings(ctx context.Context, parts []Part) context.Context {
	var all siblings
	for _, p := range parts {
		for i := range p.Ops {
			if op := &p.Ops[i]; op.Entity != nil || op.Kind == OpDelete {
				all = append(all, sibling{p.Collection, op.ID, p.Collection.outlineKey(*p.At), op.Entity})
			}
		}
	}
	return context.WithValue(ctx, siblingsKey{}, all)
}

// Sibling finds a document of the entity type among those that the transaction of
// a hook's context writes. The entity is a pointer to the repository's type as
// it is to be stored, nil when the transaction deletes the document; the key is where
// it lies, as in a [Document].
func (c *Collection) Sibling(ctx context.Context, id string) (entity any, key []any, found bool) {
	all, _ := ctx.Value(siblingsKey{}).(siblings)
	for _, other := range all {
		if other.core == c && other.id == id {
			entity, key, found = other.entity, other.key, true
		}
	}
	return entity, key, found
}

package repository

import "context"

// siblings are the documents that one transaction writes or deletes, for hooks
// that look for what a document refers to: it need not be stored yet, and what
// is stored may go.
type siblings []sibling

type sibling struct {
	core   *core
	id     string
	entity any // nil in a delete
}

type siblingsKey struct{}

// withSiblings lets the hooks of a transaction see its documents.
func withSiblings(ctx context.Context, parts []Part) context.Context {
	var all siblings
	for _, p := range parts {
		c, _, ops, _ := p.part()
		for i := range ops {
			if ops[i].entity != nil || ops[i].kind == opDelete {
				all = append(all, sibling{c, ops[i].id, ops[i].entity})
			}
		}
	}
	return context.WithValue(ctx, siblingsKey{}, all)
}

// Sibling finds a document of the species among those that the transaction of
// a hook's context writes. The entity is a pointer to the repository's type as
// it is to be stored, nil when the transaction deletes the document.
func (s *Species) Sibling(ctx context.Context, id string) (entity any, found bool) {
	all, _ := ctx.Value(siblingsKey{}).(siblings)
	for _, other := range all {
		if other.core == s.core && other.id == id {
			entity, found = other.entity, true
		}
	}
	return entity, found
}

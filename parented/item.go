package parented

import "github.com/cosmosgrove/grove/tenantitem"

// ParentedItem is the base of a child: a document of its own that belongs to
// one of type P. Embed it with the child's own type first.
//
// It must not get a MarshalJSON or UnmarshalJSON method: promoted to the
// embedding struct, it would drop every field that the struct adds.
//
// Its fields and methods are those of [ParentedItemOf]; see [Repository] for why.
type ParentedItem[C, P any] = ParentedItemOf[*C, *P]

// ParentedItemOf is [ParentedItem] over the pointers of a child and of its parent.
type ParentedItemOf[C, P any] struct {
	tenantitem.Meta
	// ParentID is the parent's id, in the same tenant. Where the key of the parents'
	// container lets two of them have one id (/tenantId,/city), fields of the child
	// with the names of the key's levels ("city") name the parent together with it. It is filled by
	// [ScopeOf.Create] and changed by [RepositoryOf.Move]. It is empty in a child
	// whose parent was deleted under the rule [Orphan].
	ParentID tenantitem.RefTo[P] `json:"parentId"`
	// ParentEntityType is the stored name of the parent's entity type.
	ParentEntityType string `json:"parentEntityType"`
}

// Ref returns a typed reference to this document, to be stored in others.
func (p *ParentedItemOf[C, P]) Ref() tenantitem.RefTo[C] { return tenantitem.RefTo[C](p.ID) }

func (p *ParentedItemOf[C, P]) mustEmbedParentedItem(C, P) {}

// parentFields are the members that Grove fills.
func (p *ParentedItemOf[C, P]) parentFields() (parentID, parentEntityType *string) {
	return (*string)(&p.ParentID), &p.ParentEntityType
}

// Child is the constraint of everything that takes a child. Only a struct that
// embeds ParentedItem of its own type and its parent's satisfies it, and the
// missing method's name in the compiler's message says so. It appears on
// constructors only; C's pointer type is inferred.
type Child[C, P any] interface {
	tenantitem.Item[C]
	mustEmbedParentedItem(*C, *P)
}

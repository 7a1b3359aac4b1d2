// Package notes is a small application over Grove: people write notes, notes
// have comments, and every tenant has its own list of values.
package notes

import (
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Person is an aggregate root.
type Person struct {
	tenantitem.TenantItem[Person]
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}

// Note is a root too: a note of a person who left stays. It refers to its
// owner and is not a part of them.
type Note struct {
	tenantitem.TenantItem[Note]
	Title   string                 `json:"title"`
	Tags    []string               `json:"tags,omitempty"`
	OwnerID tenantitem.Ref[Person] `json:"ownerId,omitempty"`
	// OwnerName follows the owner: it is read with every note.
	OwnerName    string `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=firstName"`
	CommentCount int    `json:"commentCount"`
	Stars        int    `json:"stars"`
}

// Comment is a child: when its note goes, it goes too.
type Comment struct {
	parented.ParentedItem[Comment, Note]
	AuthorID tenantitem.Ref[Person] `json:"authorId,omitempty"`
	// AuthorName is the name under which the comment was made, whatever the
	// author is called later.
	AuthorName string `json:"authorName,omitempty" denorm:"snapshot,ref=authorId,field=firstName"`
	Body       string `json:"body"`
}

// LookupValue lives in a container of its own, keyed by the list it is in.
type LookupValue struct {
	tenantitem.TenantItem[LookupValue]
	LookupType string `json:"lookupType"`
	Label      string `json:"label"`
	Rank       int    `json:"rank"`
}

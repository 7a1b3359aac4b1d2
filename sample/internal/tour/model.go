// Package tour is a walk through Grove: the verbs, what they refuse, and the
// patterns of a document model, each with its cost.
package tour

import (
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Person is an aggregate root.
type Person struct {
	tenantitem.TenantItem[Person]
	Name string `json:"name"`
}

// Note is a root too: a note of a person who left stays. It refers to its
// owner and is not a part of them.
type Note struct {
	tenantitem.TenantItem[Note]
	Title   string                 `json:"title"`
	Tags    []string               `json:"tags,omitempty"`
	Stars   int                    `json:"stars"`
	OwnerID tenantitem.Ref[Person] `json:"ownerId,omitempty"`
	// OwnerName follows the owner: it is read with every note.
	OwnerName    string `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=name"`
	CommentCount int    `json:"commentCount"`
	// NewestComments are the last three.
	NewestComments []CommentCard `json:"newestComments"`
}

// CommentCard is what a note shows of a comment.
type CommentCard struct {
	Body string `json:"body"`
}

// Comment is a child: when its note goes, it goes too.
type Comment struct {
	parented.ParentedItem[Comment, Note]
	Number int    `json:"number"`
	Body   string `json:"body"`
}

// Message is a child that is small and read with many others: they are kept in
// buckets of 100.
type Message struct {
	Text string `json:"text"`
}

// LookupValue lives in a container of its own, keyed by the list it is in.
type LookupValue struct {
	tenantitem.TenantItem[LookupValue]
	LookupType string `json:"lookupType"`
	Label      string `json:"label"`
	Rank       int    `json:"rank"`
}

// Product is what is sold.
type Product struct {
	tenantitem.TenantItem[Product]
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

// Order holds its lines, and the price that was paid.
type Order struct {
	tenantitem.TenantItem[Order]
	Lines     []Line                  `json:"lines,omitempty"`
	ProductID tenantitem.Ref[Product] `json:"productId,omitempty"`
	Cents     int                     `json:"cents,omitempty" denorm:"snapshot,ref=productId,field=cents"`
}

// Line has no life outside its order.
type Line struct {
	Article string `json:"article"`
	Cents   int    `json:"cents"`
}

// Author and Book refer to each other: the ids are kept on both sides.
type Author struct {
	tenantitem.TenantItem[Author]
	Name  string                 `json:"name"`
	Books []tenantitem.Ref[Book] `json:"books"`
}

// Book is the other side.
type Book struct {
	tenantitem.TenantItem[Book]
	Title   string                   `json:"title"`
	Authors []tenantitem.Ref[Author] `json:"authors"`
}

package tenantitem_test

import (
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

type Author struct {
	tenantitem.TenantItem[Author]
	Name string `json:"name"`
}

type Book struct {
	tenantitem.TenantItem[Book]
	Title    string                 `json:"title"`
	AuthorID tenantitem.Ref[Author] `json:"authorId"`
	Author   string                 `json:"author" denorm:"sync,ref=authorId,field=name"`
}

func ExampleTenantItem() {
	ada := &Author{Name: "Ada"}
	ada.ID = "a-1"
	book := Book{Title: "Notes", AuthorID: ada.Ref()}
	fmt.Println(ada.Name, "wrote", book.Title, "by the id", book.AuthorID)
	// Output: Ada wrote Notes by the id a-1
}

// The members of Meta stand at the top of the document and are promoted: they
// are read and set like the entity's own. A repository fills most of them.
func ExampleMeta() {
	week := int((7 * 24 * time.Hour).Seconds())
	draft := &Author{}
	draft.ID = "a-1"  // empty: the repository makes one
	draft.TTL = &week // seconds after the last write
	meta := draft.ItemMeta()
	fmt.Println(meta.ID, *meta.TTL, "seconds, deleted:", meta.Deleted())

	now := time.Now()
	meta.DeletedAt = &now // what a soft delete leaves, until the document expires
	fmt.Println("deleted:", draft.Deleted())
	// Output:
	// a-1 604800 seconds, deleted: false
	// deleted: true
}

// A reference is typed: that of an author can't be stored where one to a book belongs.
func ExampleRef() {
	ada := &Author{}
	ada.ID = "a-1"
	var book Book
	fmt.Println("refers to nothing:", book.AuthorID.IsZero())
	book.AuthorID = ada.Ref()
	fmt.Println("refers to", book.AuthorID.String())
	// Output:
	// refers to nothing: true
	// refers to a-1
}

// Changed collects the aggregate roots of one type that a program has changed:
// a generic type of its own. The compiler refuses a type that does not embed
// TenantItem of itself.
type Changed[T any, PT tenantitem.Root[T]] struct{ ids []string }

func (c *Changed[T, PT]) Add(root PT) { c.ids = append(c.ids, root.ItemMeta().ID) }

func ExampleRoot() {
	ada := &Author{}
	ada.ID = "a-1"
	var changed Changed[Author, *Author]
	changed.Add(ada)
	fmt.Println(changed.ids)
	// Output: [a-1]
}

// Newest is for children too: Item is any struct that carries a Meta.
type Newest[T any, PT tenantitem.Item[T]] struct{ item PT }

func (n *Newest[T, PT]) Offer(item PT) {
	if n.item == nil || item.ItemMeta().TS > n.item.ItemMeta().TS {
		n.item = item
	}
}

func ExampleItem() {
	first, second := &Book{Title: "first"}, &Book{Title: "second"}
	first.TS, second.TS = 1_760_000_000, 1_760_000_090 // the service's, in Unix seconds
	var newest Newest[Book, *Book]
	newest.Offer(second)
	newest.Offer(first)
	fmt.Println(newest.item.Title)
	// Output: second
}

func ExampleNewID() {
	first, _ := tenantitem.NewID()
	second, _ := tenantitem.NewID()
	fmt.Println(len(first), first < second)
	// Output: 36 true
}

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
	draft := &Author{Name: "Ada"}
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

// newVersion is a helper of an application's own, for aggregate roots of any
// type: the compiler refuses a type that does not embed TenantItem of itself.
func newVersion[T any, PT tenantitem.Root[T]](root PT) string {
	return "a new version of " + root.ItemMeta().ID
}

func ExampleRoot() {
	ada := &Author{}
	ada.ID = "a-1"
	fmt.Println(newVersion(ada))
	// Output: a new version of a-1
}

// age works for children too: Item is any struct that carries a Meta.
func age[T any, PT tenantitem.Item[T]](item PT, now time.Time) time.Duration {
	return now.Sub(time.Unix(item.ItemMeta().TS, 0))
}

func ExampleItem() {
	book := &Book{}
	book.TS = 1_760_000_000 // the service's, in Unix seconds
	fmt.Println(age(book, time.Unix(1_760_000_090, 0)))
	// Output: 1m30s
}

func ExampleNewID() {
	first, _ := tenantitem.NewID()
	second, _ := tenantitem.NewID()
	fmt.Println(len(first), first < second)
	// Output: 36 true
}

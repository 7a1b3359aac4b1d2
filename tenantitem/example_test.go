package tenantitem_test

import (
	"errors"
	"fmt"

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

func ExampleModelOf() {
	model, err := tenantitem.ModelOf[Book]()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range model.Copies() {
		fmt.Printf("%s is a %s copy of %s.%s\n", f.Path, f.Copy.Mode, f.Copy.Through.Refers.Name(), f.Copy.Source)
	}
	fmt.Println(model.UnknownField("titel"))
	// Output:
	// author is a sync copy of Author.name
	// invalid field: Book has no field "titel" (did you mean "title"?)
}

func ExampleValidateID() {
	err := tenantitem.ValidateID("2026/11")
	fmt.Println(errors.Is(err, tenantitem.ErrInvalid))
	fmt.Println(err)
	// Output:
	// true
	// invalid id: it holds '/', which can't stand in an address (letters, digits, '-', '_', '.' and ':' are always safe; tenantitem.NewID makes one)
}

func ExampleNewID() {
	first, _ := tenantitem.NewID()
	second, _ := tenantitem.NewID()
	fmt.Println(len(first), first < second)
	// Output: 36 true
}

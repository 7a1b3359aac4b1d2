package tenantitem_test

import (
	"fmt"
	"reflect"

	"github.com/cosmosgrove/grove/tenantitem"
)

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

// The model of a type that is known at run time only: here, what a reference points to.
func ExampleModelOfType() {
	book, err := tenantitem.ModelOf[Book]()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ref := range book.References() {
		target, err := tenantitem.ModelOfType(ref.Refers)
		fmt.Println(ref.Path, "refers to", target.Name, err)
	}
	// Output: authorId refers to Author <nil>
}

func ExampleModel() {
	book, err := tenantitem.ModelOf[Book]()
	if err != nil {
		fmt.Println(err)
		return
	}
	title, ok := book.Field("title")
	fmt.Println(ok, title.Kind == tenantitem.KindString)
	fmt.Printf("did you mean %q?\n", book.Suggest("titel"))
	// Output:
	// true true
	// did you mean "title"?
}

// Order has fields in an array of objects.
type Order struct {
	tenantitem.TenantItem[Order]
	Items []OrderItem `json:"items"`
}

// OrderItem is a line of an order.
type OrderItem struct {
	BookID tenantitem.Ref[Book] `json:"bookId"`
	Title  string               `json:"title" denorm:"snapshot,ref=bookId,field=title"`
	Gift   *bool                `json:"gift,omitempty"`
}

// A field's values are read, or set, at every place where the entity has it.
func ExampleField() {
	model, err := tenantitem.ModelOf[Order]()
	if err != nil {
		fmt.Println(err)
		return
	}
	order := &Order{Items: []OrderItem{{BookID: "b-1"}, {BookID: "b-2"}}}
	title, _ := model.Field("items[].title")
	entity := reflect.ValueOf(order).Elem()
	title.Holders(entity, func(item reflect.Value) {
		id, _ := title.Copy.Through.In(item)
		value, _ := title.In(item)
		value.SetString("the title of " + id.String())
	})
	fmt.Println(order.Items[1].Title)

	first, _ := title.Value(entity)
	fmt.Println(first, "in", title.Array().Path)
	fmt.Println(title.SameHolder(title.Copy.Through))
	// Output:
	// the title of b-2
	// the title of b-1 in items
	// true
}

// A nil pointer is a value too: the second line does not say whether it is a gift.
func ExampleField_SetIn() {
	model, err := tenantitem.ModelOf[Order]()
	if err != nil {
		fmt.Println(err)
		return
	}
	order := &Order{Items: []OrderItem{{Gift: new(bool)}, {}}}
	gift, _ := model.Field("items[].gift")
	fmt.Println(gift.Type, gift.Declared)
	gift.Holders(reflect.ValueOf(order).Elem(), func(item reflect.Value) {
		if value, _ := gift.DeclaredIn(item); value.IsNil() {
			gift.SetIn(item, reflect.ValueOf(new(true)))
		}
	})
	fmt.Println(*order.Items[0].Gift, *order.Items[1].Gift)
	// Output:
	// bool *bool
	// false true
}

// A field's kind is the JSON type that it is stored as.
func ExampleFieldKind() {
	model, err := tenantitem.ModelOf[Order]()
	if err != nil {
		fmt.Println(err)
		return
	}
	items, _ := model.Field("items")
	fmt.Println(items.Kind == tenantitem.KindArray, items.Elem == tenantitem.KindObject)
	// Output: true true
}

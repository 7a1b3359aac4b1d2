package repository_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
)

// exampleTitles are the titles of the notes that a query finds, in their order.
func exampleTitles(scope *repository.Scope[Note], q repository.Query) []string {
	titles := []string{}
	for note, err := range scope.Query(context.Background(), q.OrderBy("title")) {
		if err != nil {
			return []string{err.Error()}
		}
		titles = append(titles, note.Title)
	}
	return titles
}

// exampleFarm are three notes to look for.
func exampleFarm() (acme *repository.Scope[Note], done func()) {
	acme, done = exampleNotes()
	for _, note := range []*Note{
		{Title: "apples", Count: 1, Tags: []string{"fruit", "red"}, Address: &Address{City: "Ghent"}},
		{Title: "beans", Count: 5, Tags: []string{"green"}},
		{Title: "berries", Count: 9, Tags: []string{"fruit", "blue"}},
	} {
		if err := acme.Create(context.Background(), note); err != nil {
			panic(err)
		}
	}
	return acme, done
}

// Conditions compare a field, by its JSON name, with a value of its type.
func ExampleWhere() {
	acme, done := exampleFarm()
	defer done()
	for _, condition := range []repository.Predicate{
		repository.Eq("title", "beans"),
		repository.Ne("title", "beans"),
		repository.Lt("count", 5),
		repository.Lte("count", 5),
		repository.Gt("count", 5),
		repository.Gte("count", 5),
		repository.In("title", "apples", "berries", "cherries"),
		repository.StartsWith("title", "be"),
		repository.Contains("tags", "fruit"), // an element of an array
		repository.Contains("title", "rr"),   // a part of a text
	} {
		fmt.Println(exampleTitles(acme, repository.Where(condition)))
	}
	// Output:
	// [beans]
	// [apples berries]
	// [apples]
	// [apples beans]
	// [berries]
	// [beans berries]
	// [apples berries]
	// [beans berries]
	// [apples berries]
	// [berries]
}

// Exists tells a field that is missing from one that is there: a comparison
// with a missing field neither holds nor fails.
func ExampleExists() {
	acme, done := exampleFarm()
	defer done()
	fmt.Println(exampleTitles(acme, repository.Where(repository.Exists("address.city"))))
	fmt.Println(exampleTitles(acme, repository.Where(repository.Not(repository.Exists("address.city")))))
	fmt.Println(exampleTitles(acme, repository.Where(repository.Ne("address.city", "Ghent"))))
	// Output:
	// [apples]
	// [beans berries]
	// []
}

func ExampleOr() {
	acme, done := exampleFarm()
	defer done()
	fruit := repository.Contains("tags", "fruit")
	fmt.Println(exampleTitles(acme, repository.Where(repository.Or(
		repository.Eq("title", "beans"),
		repository.And(fruit, repository.Gt("count", 5)),
	))))
	// Output: [beans berries]
}

// A query is a value: a part that several have in common is made once.
func ExampleQuery_And() {
	acme, done := exampleFarm()
	defer done()
	fruit := repository.Where(repository.Contains("tags", "fruit"))
	fmt.Println(exampleTitles(acme, fruit))
	fmt.Println(exampleTitles(acme, fruit.And(repository.Gt("count", 5))))
	fmt.Println(exampleTitles(acme, fruit.AndSQL("ARRAY_CONTAINS(c.tags, @color)", repository.P("color", "red"))))
	// Output:
	// [apples berries]
	// [berries]
	// [apples]
}

// What the conditions can't say is said in SQL, of the part behind WHERE. The
// document is c, values are parameters, and the tenant is added to it.
func ExampleSQL() {
	acme, done := exampleFarm()
	defer done()
	fmt.Println(exampleTitles(acme, repository.SQL("ARRAY_LENGTH(c.tags) = @n AND c.count < @most", repository.P("n", 2), repository.P("most", 5))))

	_, err := acme.First(context.Background(), repository.SQL("true) OR (true")) // does not reach around the tenant
	fmt.Println(errors.Is(err, repository.ErrInvalid))
	// Output:
	// [apples]
	// true
}

// A misspelled field is refused before any request, with the nearest name.
func ExamplePredicate() {
	acme, done := exampleFarm()
	defer done()
	_, err := acme.Count(context.Background(), repository.Where(repository.Eq("titel", "beans")))
	fmt.Println(err)
	// Output: Count Note of tenant "acme": invalid field: Note has no field "titel" (did you mean "title"?)
}

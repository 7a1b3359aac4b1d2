package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/repository"
)

func ExampleScopeOf_Query() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_, _ = acme.SaveAll(ctx, slices.Values(notesFrom(20)), nil)

	q := repository.Where(repository.Gte("title", "n00010")).AndSQL("RIGHT(c.title, 1) = @last", repository.P("last", "7")).OrderBy("title")
	for n, err := range acme.Query(ctx, q) {
		fmt.Println(n.Title, err)
	}
	for _, err := range acme.Query(ctx, repository.Where(repository.Eq("titel", "x"))) {
		fmt.Println(errors.Is(err, repository.ErrInvalid))
	}
	// Output:
	// n00017 <nil>
	// true
}

func ExampleScopeOf_First() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_, _ = acme.SaveAll(ctx, slices.Values(notesFrom(20)), nil)

	n, err := acme.First(ctx, repository.All().OrderByDesc("title"))
	fmt.Println(n.Title, err)
	// Output: n00019 <nil>
}

func ExampleScopeOf_Count() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_, _ = acme.SaveAll(ctx, slices.Values(notesFrom(20)), nil)

	fmt.Println(acme.Count(ctx, repository.Where(repository.Lt("title", "n00005"))))
	// Output: 5 <nil>
}

func ExampleScopeOf_Page() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_, _ = acme.SaveAll(ctx, slices.Values(notesFrom(25)), nil)

	for cursor, more := "", true; more; more = cursor != "" {
		page, err := acme.Page(ctx, repository.All().OrderBy("title"), repository.PageOptions{Size: 10, Cursor: cursor})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(page.Items), page.Items[0].Title)
		cursor = page.Cursor // safe in a URL, good for this tenant and query only
	}
	// Output:
	// 10 n00000
	// 10 n00010
	// 5 n00020
}

func ExampleProject() {
	acme, done := exampleNotes()
	defer done()
	ctx := context.Background()
	_ = acme.Create(ctx, &Note{Title: "first", Tags: []string{"a", "b"}})

	type card struct {
		Title string   `json:"title"`
		Tags  []string `json:"tags"`
	}
	for c, err := range repository.Project[card](ctx, &acme.Reader, repository.All()) {
		fmt.Println(c.Title, c.Tags, err)
	}
	// Output: first [a b] <nil>
}

func ExampleScopeOf_Explain() {
	acme, done := exampleNotes()
	defer done()
	e, err := acme.Explain(repository.Where(repository.Eq("title", "x")).OrderBy("title"))
	fmt.Println(e.SQL)
	fmt.Println(e.Scope, err)
	// Output:
	// SELECT * FROM c WHERE c["tenantId"] = @p0 AND c["entityType"] = @p1 AND c["title"] = @p2 ORDER BY c["title"]
	// one partition <nil>
}

func ExampleQuery_Explain() {
	e, err := repository.Where(repository.Eq("title", "x")).Limit(5).Explain()
	fmt.Println(e, err)
	// Output: unbound: SELECT * FROM c WHERE c["title"] = @p0 OFFSET 0 LIMIT 5 [@p0] <nil>
}

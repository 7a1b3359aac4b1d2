package parented_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// discussion is a note with two comments, as the examples start from.
func discussion() (g grove, note *Note, comments []*Comment, done func()) {
	g, done = exampleGrove()
	ctx := context.Background()
	note, comments = &Note{Title: "with comments"}, []*Comment{{Body: "first"}, {Body: "second"}}
	check(g.notes.In("acme").Create(ctx, note))
	for _, c := range comments {
		check(g.comments.Under(note).Create(ctx, c))
	}
	return g, note, comments, done
}

// Grandchildren take their parents' own repository; a child without a rule is
// refused.
func ExampleNew() {
	g, done := exampleGrove()
	defer done()
	forest := parented.NewForest(parented.ForestConfig{})
	notes, err := repository.New[Note](g.notes.Container(), repository.Config{})
	check(err)
	comments, err := parented.New[Comment](forest, notes, g.notes.Container(), parented.Config{Rule: parented.Cascade})
	check(err)
	replies, err := parented.New[Reply](forest, comments.Items(), g.notes.Container(), parented.Config{Rule: parented.Cascade})
	check(err)
	fmt.Println(replies.EntityType(), "under", replies.Parents().EntityType())
	_, err = parented.New[Label](forest, notes, g.notes.Container(), parented.Config{})
	fmt.Println("without a rule:", errors.Is(err, repository.ErrInvalid))
	// Output:
	// Reply under Comment
	// without a rule: true
}

// A policy with Retain makes deletes soft.
func ExampleRegister() {
	g, note, _, done := discussion()
	defer done()
	ctx, acme := context.Background(), g.notes.In("acme")
	check(parented.Register(g.forest, g.notes, parented.Policy{Retain: 24 * time.Hour}))
	check(acme.Delete(ctx, note.ID, nil))
	_, err := acme.Get(ctx, note.ID)
	fmt.Println("hidden:", errors.Is(err, repository.ErrNotFound))
	check(acme.Restore(ctx, note.ID))
	n, err := g.comments.Under(note).Count(ctx, repository.All())
	fmt.Println(n, "comments are back,", err)
	// Output:
	// hidden: true
	// 2 comments are back, <nil>
}

func ExampleRepositoryOf_Under() {
	g, note, _, done := discussion()
	defer done()
	n, err := g.comments.Under(note).Count(context.Background(), repository.All())
	fmt.Println(n, err)
	// Output: 2 <nil>
}

func ExampleRepositoryOf_UnderID() {
	g, note, _, done := discussion()
	defer done()
	n, err := g.comments.UnderID("acme", tenantitem.Ref[Note](note.ID)).Count(context.Background(), repository.All())
	fmt.Println(n, err)
	// Output: 2 <nil>
}

// In reaches the children of all parents, Items is the plain repository.
func ExampleRepositoryOf_In() {
	g, _, comments, done := discussion()
	defer done()
	ctx := context.Background()
	_, err := g.comments.In("acme").Patch(ctx, comments[0].ID, repository.Set("/body", "edited"))
	check(err)
	got, err := g.comments.Items().In("acme").Get(ctx, comments[0].ID)
	fmt.Println(got.Body, err)
	// Output: edited <nil>
}

func ExampleRepositoryOf_allTenants() {
	g, _, _, done := discussion()
	defer done()
	n, err := g.comments.AllTenants().Count(context.Background(), repository.All())
	fmt.Println(n, "comments of all tenants,", err)
	// Output: 2 comments of all tenants, <nil>
}

func ExampleScopeOf_Create() {
	g, note, _, done := discussion()
	defer done()
	ctx, comment := context.Background(), &Comment{Body: "third"}
	check(g.comments.Under(note).Create(ctx, comment))
	fmt.Println(comment.ParentID == note.Ref(), comment.ParentEntityType)
	err := g.comments.UnderID("acme", "nowhere").Create(ctx, &Comment{})
	fmt.Println("dangling:", errors.Is(err, repository.ErrDanglingRef))
	// Output:
	// true Note
	// dangling: true
}

func ExampleScopeOf_Get() {
	g, note, comments, done := discussion()
	defer done()
	ctx := context.Background()
	got, err := g.comments.Under(note).Get(ctx, comments[1].ID)
	fmt.Println(got.Body, err)
	_, err = g.comments.UnderID("acme", "another").Get(ctx, comments[1].ID)
	fmt.Println("under another parent:", errors.Is(err, repository.ErrNotFound))
	// Output:
	// second <nil>
	// under another parent: true
}

func ExampleScopeOf_Query() {
	g, note, _, done := discussion()
	defer done()
	for c, err := range g.comments.Under(note).Query(context.Background(), repository.All().OrderByDesc("body")) {
		check(err)
		fmt.Println(c.Body)
	}
	// Output:
	// second
	// first
}

func ExampleScopeOf_First() {
	g, note, _, done := discussion()
	defer done()
	c, err := g.comments.Under(note).First(context.Background(), repository.Where(repository.Eq("body", "second")))
	fmt.Println(c.Body, err)
	// Output: second <nil>
}

func ExampleScopeOf_Count() {
	g, note, _, done := discussion()
	defer done()
	n, err := g.comments.Under(note).Count(context.Background(), repository.Where(repository.Eq("body", "second")))
	fmt.Println(n, err)
	// Output: 1 <nil>
}

func ExampleScopeOf_Page() {
	g, note, _, done := discussion()
	defer done()
	page, err := g.comments.Under(note).Page(context.Background(), repository.All().OrderBy("body"), repository.PageOptions{Size: 1})
	check(err)
	fmt.Println(page.Items[0].Body, page.Cursor != "")
	// Output: first true
}

func ExampleScopeOf_Delete() {
	g, note, comments, done := discussion()
	defer done()
	ctx := context.Background()
	check(g.replies.Under(comments[0]).Create(ctx, &Reply{}))
	check(g.comments.Under(note).Delete(ctx, comments[0].ID, nil))
	n, err := g.replies.In("acme").Count(ctx, repository.All())
	fmt.Println(n, "replies left,", err)
	// Output: 0 replies left, <nil>
}

func ExampleDanglingError() {
	g, done := exampleGrove()
	defer done()
	err := g.comments.UnderID("acme", "nowhere").Create(context.Background(), &Comment{})
	var dangling *parented.DanglingError
	if errors.As(err, &dangling) {
		fmt.Println(dangling.Field, dangling.EntityType, dangling.ID)
	}
	// Output: parentId Note nowhere
}

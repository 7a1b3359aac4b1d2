package parented_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// exampleGrove is what setup makes, without a test.
func exampleGrove() (g grove, done func()) {
	service, err := emulator.New(emulator.Options{})
	check(err)
	credential, err := azcosmos.NewKeyCredential(service.Key())
	check(err)
	account, err := tenantitem.NewID() // the SDK shares caches between the clients of one endpoint
	check(err)
	immortal := &mortal{}
	immortal.left.Store(never)
	client, err := azcosmos.NewClientWithKey("https://"+account+".emulator.localhost/", credential, repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: service, PerRetryPolicies: []policy.Policy{immortal},
	}}))
	check(err)
	ctx, never := context.Background(), int32(-1)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "notes"}, nil)
	check(err)
	database, err := client.NewDatabase("notes")
	check(err)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "items", DefaultTimeToLive: &never,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	check(err)
	g, err = wire(database, planting{})
	check(err)
	return g, func() { client.Close(); check(service.Close()) }
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func Example() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "with comments"}
	check(g.notes.In("acme").Create(ctx, note))
	for _, body := range []string{"first", "second"} {
		check(g.comments.Under(note).Create(ctx, &Comment{Body: body}))
	}
	for c, err := range g.comments.Under(note).Query(ctx, repository.All().OrderBy("body")) {
		check(err)
		fmt.Println(c.Body, c.ParentID == note.Ref())
	}
	check(g.notes.In("acme").Delete(ctx, note.ID, nil))
	n, err := g.comments.In("acme").Count(ctx, repository.All())
	fmt.Println(n, "comments left,", err)
	err = g.comments.Under(note).Create(ctx, &Comment{Body: "late"})
	fmt.Println("dangling:", errors.Is(err, repository.ErrDanglingRef))
	// Output:
	// first true
	// second true
	// 0 comments left, <nil>
	// dangling: true
}

func ExampleChildrenError() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	note, comment := &Note{}, &Comment{}
	check(g.notes.In("acme").Create(ctx, note))
	check(g.comments.Under(note).Create(ctx, comment))
	check(g.votes.Under(comment).Create(ctx, &Vote{Up: true}))

	plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
	check(err)
	fmt.Println("restricting:", plan.Restricting)
	var children *parented.ChildrenError
	if err := g.notes.In("acme").Delete(ctx, note.ID, nil); errors.As(err, &children) {
		fmt.Println(children)
	}
	// Output:
	// restricting: map[Vote:1]
	// has children: 1 Vote (delete or move them first)
}

// A person is shown what a delete takes, and confirms it. A comment that is written
// meanwhile is not deleted unseen.
func Example_deleteWithPlan() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	note := &Note{}
	check(g.notes.In("acme").Create(ctx, note))
	check(g.comments.Under(note).Create(ctx, &Comment{}))

	plan, err := g.notes.In("acme").PlanDelete(ctx, note.ID)
	check(err)
	fmt.Println("shown:", plan.Removed)
	check(g.comments.Under(note).Create(ctx, &Comment{}))
	err = g.notes.In("acme").Delete(ctx, note.ID, &repository.DeleteOptions{Plan: plan.Token})
	var grown *parented.PlanChangedError
	if errors.As(err, &grown) {
		fmt.Println("found:", grown.Found)
	}
	// Output:
	// shown: map[Comment:1 Note:1]
	// found: map[Comment:2]
}

func ExampleRepositoryOf_Move() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	from, to, label := &Note{}, &Note{}, &Label{Text: "go"}
	check(g.notes.In("acme").Create(ctx, from))
	check(g.notes.In("acme").Create(ctx, to))
	check(g.labels.Under(from).Create(ctx, label))
	check(g.labels.Move(ctx, "acme", label.ID, to.Ref()))
	got, err := g.labels.Under(to).Get(ctx, label.ID)
	fmt.Println(got.Text, err)
	fmt.Println(errors.Is(g.labels.Move(ctx, "acme", label.ID, "nowhere"), repository.ErrDanglingRef))
	// Output:
	// go <nil>
	// true
}

// A process dies in the middle of a delete, and the next one goes on with it.
func ExampleForest_Resume() {
	g, note, _, done := discussion()
	defer done()
	ctx, die := context.WithCancel(context.Background())
	dies := context.WithValue(ctx, lateKey{}, &beforeBatch{after: 1, do: die})
	err := g.notes.In("acme").Delete(dies, note.ID, nil)
	fmt.Println("it may go on:", errors.Is(err, repository.ErrAmbiguous))

	ctx = context.Background()
	resumed, err := g.forest.Resume(ctx)
	fmt.Println(resumed.Finished, "finished,", resumed.Refused, "taken back,", err)
	n, err := g.comments.In("acme").Count(ctx, repository.All())
	fmt.Println(n, "comments left,", err)
	// Output:
	// it may go on: true
	// 1 finished, 0 taken back, <nil>
	// 0 comments left, <nil>
}

func ExampleForest_Sweep() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	note := &Note{}
	check(g.notes.In("acme").Create(ctx, note))
	check(g.comments.Under(note).Create(ctx, &Comment{}))
	// Something deletes the note behind the repositories' back.
	key := azcosmos.NewPartitionKeyString("acme").AppendString("Note")
	_, err := g.notes.Container().DeleteItem(ctx, key, note.ID, nil)
	check(err)

	swept, err := g.forest.Sweep(ctx, "acme", &parented.SweepOptions{MinAge: 1})
	fmt.Println(swept, err)
	n, err := g.comments.In("acme").Count(ctx, repository.All())
	fmt.Println(n, "comments left,", err)
	// Output:
	// map[Comment:1] <nil>
	// 0 comments left, <nil>
}

func ExampleBuckets() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	cfg := parented.BucketConfig{Capacity: 100}
	cfg.EntityType, cfg.Rule = "LineBucket", parented.Cascade
	lines, err := parented.NewBuckets[Line](g.forest, g.notes, g.notes.Container(), cfg)
	check(err)
	note := &Note{}
	check(g.notes.In("acme").Create(ctx, note))
	for n := range 250 {
		_, err := lines.Under(note).Append(ctx, Line{Number: n})
		check(err)
	}
	for line, err := range lines.Under(note).NewestFirst(ctx) {
		check(err)
		fmt.Println("newest:", line.Value.Number)
		break
	}
	documents, err := lines.Documents().Under(note).Count(ctx, repository.All())
	fmt.Println(documents, "documents,", err)
	// Output:
	// newest: 249
	// 3 documents, <nil>
}

func ExampleLoad() {
	g, done := exampleGrove()
	defer done()
	ctx := context.Background()
	note := &Note{Title: "with comments"}
	check(g.notes.In("acme").Create(ctx, note))
	for i := range 5 {
		check(g.comments.Under(note).Create(ctx, &Comment{Body: fmt.Sprint("c", i)}))
	}
	newest := g.comments.Part(repository.All().OrderByDesc("body"), 2)
	got, err := parented.Load(ctx, g.notes.In("acme"), note.ID, newest)
	check(err)
	fmt.Println(got.Title, len(newest.Items), newest.Items[0].Body, newest.More)
	// Output: with comments 2 c4 true
}
